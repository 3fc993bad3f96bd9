import APNSBatch
import APNSBatchBasics
import ArgumentParser
import Foundation

/// What is notified of the beginning and the end of a run: the monitor of `ping_url_file`, the program of `on_complete`, the endpoints
/// of `webhooks`, and those who read its metrics. What goes wrong there is a warning, and changes no exit code.
struct RunHooks: Sendable {
    private let monitor: RunMonitor?
    private let program: CompletionProgram?
    let metrics: MetricsPublisher
    let webhooks: RunWebhooks

    init(_ call: CampaignCall) throws {
        webhooks = try RunWebhooks(call)
        metrics = try MetricsPublisher(call)
        monitor = try Self.monitor(of: call.settings)
        program = try Self.program(of: call.settings)
    }

    /// The monitor that the settings name; nil if they name none.
    static func monitor(of settings: CampaignSettings) throws -> RunMonitor? {
        try settings.pingUrlFile.map {
            try RunMonitor(urlFile: $0, timeout: try settings.patience("pingTimeout", standard: 10))
        }
    }

    /// The program that the settings name; nil if they name none.
    static func program(of settings: CampaignSettings) throws -> CompletionProgram? {
        let arguments = settings.values["onComplete"]?.texts ?? []
        guard !arguments.isEmpty else { return nil }
        return CompletionProgram(
            arguments: arguments, patience: try settings.patience("onCompletePatience", standard: 60),
            hidden: settings.secretVariables)
    }

    /// Runs `body`, reports its beginning and its end, and returns its exit code. Nothing waits for the monitor before the
    /// end.
    ///
    /// - Parameter body: sends a campaign, or throws an exit code if it cannot begin.
    func around(_ body: () async throws -> RunEnd) async throws -> ExitCode {
        let beginning = Task { await monitor?.tell("start") }
        let end: RunEnd
        do {
            end = try await body()
        } catch let status as ExitCode {
            end = RunEnd(refused: status)
        }
        let service = ServiceManager.shared
        let waiting = Task { await service.keepAlive() }
        metrics.end(end)
        await webhooks.note(end)
        // The end is reported after the beginning, which is not tried again any more.
        beginning.cancel()
        await beginning.value
        async let told: ()? = monitor?.tell("\(end.exitCode.rawValue)", body: end.text)
        async let delivered: () = webhooks.finish()
        await program?.run(end.variables)
        await told
        await delivered
        waiting.cancel()
        service.stopping(end.verdict)
        return end.exitCode
    }
}

/// How a run ended, or why it did not begin.
struct RunEnd {
    let exitCode: ExitCode
    let verdict: String
    /// The last line on standard output; empty if the run did not begin.
    let lastLine: String
    /// The run directory; empty if the run did not begin.
    let directory: String
    /// Nil if the run did not begin.
    let summary: CampaignSummary?

    init(_ summary: CampaignSummary, directory: String, exitCode: ExitCode) {
        self.exitCode = exitCode
        self.summary = summary
        verdict = Printable.text(summary.verdict)
        lastLine = SummaryText.lastLine(summary)
        self.directory = CampaignSettings.path(directory, from: FileManager.default.currentDirectoryPath)
    }

    /// Returns the same end with another exit code and verdict.
    init(exitCode: ExitCode, verdict: String, of end: RunEnd) {
        (self.exitCode, self.verdict) = (exitCode, verdict)
        (lastLine, directory, summary) = (end.lastLine, end.directory, end.summary)
    }

    init(refused status: ExitCode) {
        exitCode = status
        summary = nil
        verdict = Printable.message("FAILED: \(Console.shared.lastFailure ?? "the run did not begin")")
        (lastLine, directory) = ("", "")
    }

    /// For people who read the monitor.
    var text: String { lastLine.isEmpty ? "\(verdict)\n" : "\(verdict)\n\(lastLine)\n" }

    /// For the environment of a program.
    var variables: [String: String] { ["EXIT": "\(exitCode.rawValue)", "VERDICT": verdict, "RUN_DIR": directory] }
}

extension CampaignSettings {
    fileprivate func patience(_ name: String, standard: Int) throws -> Duration {
        try Self.patience(values[name] ?? .number(standard))
    }

    /// The environment variables that hold passphrases and passwords.
    var secretVariables: Set<String> {
        let all = [self] + (values["providers"]?.list ?? []).map { CampaignSettings($0.members ?? [:]) }
        let variables = Setting.all.filter { if case .variable = $0.kind { true } else { false } }
        return Set(all.flatMap { settings in variables.compactMap { settings.values[$0.name]?.text } })
    }
}
