import APNSBatch
import ArgumentParser
import CProcess
import Foundation

/// `apns-batch send`.
struct Send: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sends a campaign and writes one line of results for each row.",
        discussion: """
            Columns token, payload, topic, push_type, priority, expiration, collapse_id
            and apns_id mean themselves, with templates by language or variant locale or
            variant too; all others fill the template. docs/campaigns.md lists the keys of
            a campaign file.

            Examples:
              apns-batch send --input rows.csv --to simulator
              apns-batch send --input rows.csv --template payload.json \\
                --to production --topic com.example.app --run-dir runs/tonight \\
                --key-file AuthKey.p8 --key-id ABC123DEFG --team-id DEF123GHIJ
              zcat rows.csv.gz | apns-batch send campaign.yaml --input -

            The run directory holds results.csv
            (row,token,outcome,status,reason,timestamp,apns_id,attempts), summary.json and
            the ledger, from which status tells how things are and resume goes on.
            Exit codes: see apns-batch --help.

            A campaign file can name several providers, each with its key or certificate
            and its topics. Keys and certificates are read again when their files change,
            and on SIGHUP; new connections use them. SIGUSR1 pauses the sending and lets it
            go on; SIGINT or SIGTERM ends it in order, twice without waiting for answers.
            """)

    @OptionGroup var arguments: CampaignArguments

    @OptionGroup(title: "Output") var output: OutputFlags

    func run() async throws {
        Signals.ignoreHangup()
        output.begin()
        let call = try reporting { try arguments.resolved() }
        try await Self.send(call, RunArguments(call), output: output)
    }

    /// Sends a campaign, shows how far it is, and ends with its exit code.
    static func send(
        _ call: CampaignCall, _ arguments: RunArguments, resuming: Bool = false, retryUnavailable: Bool = false,
        output: OutputFlags
    ) async throws {
        let simulator = try call.reporting {
            try EmbeddedSimulator.ifWanted(call.settings, broadcasts: arguments.isBroadcast)
        }
        defer { simulator?.stop() }
        // Read again when they change.
        let files = try call.reporting { simulator == nil ? try CredentialFiles(call) : nil }
        var campaign = try call.reporting { try arguments.campaign(call.settings, simulator: simulator) }
        campaign.retryUnavailable = retryUnavailable
        let run = try call.reporting {
            try CampaignRun(campaign, resuming: resuming, logger: output.logger)
        }
        for warning in run.warnings { complain("warning: \(warning.text)") }
        Signals.onStop { name in
            // First: nobody may be there to read it, and the pipe full.
            run.stop()
            complain("\(name): taking no more rows, waiting for answers; once more to wait no longer")
        } again: {
            run.stopAtOnce()
            complain("waiting no longer: rows under way are unknown")
        } hangup: {
            if let files { files.reloadNow(run) } else { complain("SIGHUP: the simulator's key stays") }
        } pause: {
            if run.isPaused { run.unpause() } else { run.pause() }
            complain(run.isPaused ? "SIGUSR1: paused; once more to go on" : "SIGUSR1: going on")
        }
        let display = Task { await ProgressDisplay().follow { run.progress } }
        let watch = Task { await files?.follow(run) }
        // A line for the case that this process ends by a fault of its own.
        process_run_set(run.directory)
        let summary = await run.run()
        process_run_set(nil)
        watch.cancel()
        display.cancel()
        await display.value
        report(summary, of: run)
        if summary.ending == .failed, (try? RunOpening(of: run.directory)) == nil { complain(CampaignCall.nothingBegun) }
        _ = Output.isComplete()
        throw ExitStatus.of(summary, failure: run.failure)
    }

    private static func report(_ summary: CampaignSummary, of run: CampaignRun) {
        if let cause = summary.cause { complain(cause) }
        if summary.ending == .complete, summary.rows == 0 { complain("warning: the input has no rows") }
        if let found = summary.duplicateTokens { complain("warning: \(found.description) [duplicate-token]") }
        if let found = summary.unusualTokens { complain("warning: \(found.description) [token-size]") }
        print(SummaryText.reasons(summary), terminator: "")
        print("results: \(run.directory)/results.csv")
        print("loop: \(summary.loop), connections: \(summary.connections)")
        print(SummaryText.lastLine(summary))
    }
}

/// How a summary reads.
enum SummaryText {
    /// Rejected and unavailable rows by reason, most frequent first; a line each.
    static func reasons(_ summary: CampaignSummary) -> String {
        lines("rejected", summary.reasons) + lines("unavailable", summary.unavailableReasons)
    }

    private static func lines(_ outcome: String, _ reasons: [String: UInt64]) -> String {
        reasons.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            .map { "\(outcome) \($0.value): \(clean($0.key))\n" }.joined()
    }

    /// A server may make up reasons: nothing in them may move the cursor or make a line of its own.
    private static func clean(_ reason: String) -> String {
        String(
            String.UnicodeScalarView(reason.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 })
        )
    }

    /// The line that scripts read.
    static func lastLine(_ summary: CampaignSummary) -> String {
        "rows=\(summary.rows) accepted=\(summary.accepted) rejected=\(summary.rejected) unavailable=\(summary.unavailable) "
            + "invalid=\(summary.invalid) unknown=\(summary.unknown) expired=\(summary.expired) suppressed=\(summary.suppressed) "
            + String(
                format: "seconds=%.3f per_second=%.0f", summary.elapsedSeconds, summary.acceptedPerSecond)
    }
}
