import APNSBatch
import ArgumentParser
import CAPNSProcess

/// Runs the command with the arguments of the process, and ends the process with an exit code. The program must link CAPNSStart.
public func runCommand() async { await ApnsBatch.main() }

struct ApnsBatch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apns-batch",
        abstract:
            "Sends a campaign of push notifications: one push and one line of results for each row of a CSV file.",
        discussion: """
            Examples:
              apns-batch send --input rows.csv --to simulator
              apns-batch send campaign.yaml --run-dir runs/tonight
              apns-batch run campaign.yaml
              apns-batch status runs/tonight
              apns-batch resume runs/tonight
              apns-batch abandon runs/tonight
              apns-batch control runs/tonight rate 500/s
              apns-batch runs campaign.yaml
              apns-batch report runs/tonight
              apns-batch export runs/tonight --to service=push
              apns-batch notify runs/tonight
              apns-batch check campaign.yaml
              apns-batch broadcast campaign.yaml --input channels.csv
              apns-batch channels list campaign.yaml
              apns-batch doctor campaign.yaml
              apns-batch render campaign.yaml --rows 3
              apns-batch simulate --port 2197

            Exit codes:
              0   The run is complete, and every expectation (--expect) holds. By default,
                  at least one row is accepted, and none is unavailable, invalid, unknown
                  or expired.
              2   The run is complete, but an expectation does not hold; the verdict says
                  which one. Or results are missing in the database of results_to.
              64  Usage, configuration or input is wrong; nothing was sent.
              69  A fatal answer stopped the run, or APNs cannot be reached.
              71  The machine lacks threads, memory, file descriptors, an event loop or
                  /proc.
              75  The run was interrupted, the input or the disk failed, standard output
                  could not be written, or another process is working on the run.

            "apns-batch resume" continues a run that ended with 69, 71 or 75, or that was
            killed. "apns-batch run" does that by itself.
            """,
        version: version,
        subcommands: [
            Run.self, Send.self, Resume.self, Abandon.self, ControlCommand.self, Status.self, Runs.self, Report.self,
            Export.self,
            Notify.self, Check.self, Render.self, Broadcast.self, Channels.self, DoctorCommand.self,
            ProviderTokenCommand.self, CopyCampaign.self, Simulate.self, Reference.self,
        ])

    /// The version, with the commit if the build was given it.
    private static var version: String {
        guard let commit = apns_process_commit() else { return ProductVersion.current }
        return "\(ProductVersion.current) (\(String(cString: commit)))"
    }

    /// What arguments ask for.
    enum Request {
        case shortHelp(of: any ParsableCommand.Type)
        case run(any ParsableCommand)

        /// - Parameter given: the arguments, without the name of the program.
        /// - Throws: `UsageError`, or an error of the parser, which may be a request for help.
        init(_ given: [String]) throws {
            let arguments = NegativeNumbers.joined(given)
            try CommandWord.check(arguments)
            if let command = ShortHelp.command(of: arguments) {
                self = .shortHelp(of: command)
            } else {
                let command = try parseAsRoot(arguments)
                try RepeatedFlags.check(arguments, of: type(of: command))
                self = .run(command)
            }
        }
    }

    /// Core dumps are forbidden before any key is in memory. CAPNSStart has already prepared the process in other ways.
    static func main() async {
        ProcessSecrecy.forbidCoreDumps()
        ServiceManager.begin()
        do {
            let given = Array(CommandLine.arguments.dropFirst())
            let request = try reporting { try Request(given) }
            switch request {
            case .shortHelp(let command): Output.lines(try ShortHelp.lines(of: command))
            case .run(var command):
                try reporting { _ = try LocalZone.current() }
                if var command = command as? AsyncParsableCommand {
                    try await command.run()
                } else {
                    try command.run()
                }
            }
            end(.success)
        } catch {
            if !(error is ExitCode), exitCode(for: error) != .success { refuse(error) }
            // A code whose cause was reported.
            if let code = error as? ExitCode { end(code) }
            // Help or the version.
            Output.lines(
                fullMessage(for: error).split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
            end(.success)
        }
    }

    /// Ends the process. It was no success if what was to be printed could not be written, whichever command it was.
    private static func end(_ code: ExitCode) -> Never {
        exit(withError: code == .success && !Output.isComplete() ? ExitStatus.interrupted : code)
    }

    /// Reports an error of the arguments, or one that was not reported yet.
    private static func refuse(_ error: any Error) -> Never {
        let refusal = refusal(error)
        for line in refusal.lines { complain(line) }
        exit(withError: refusal.status)
    }

    /// The lines for an error of the arguments, or for one that was not reported yet, in the same form as for all other errors.
    static func refusal(_ error: any Error) -> (lines: [String], status: ExitCode) {
        let code = exitCode(for: error)
        let text = message(for: error)
        var lines = [text.prefix(1).lowercased() + text.dropFirst()]
        let hint = fullMessage(for: error).split(separator: "\n").last { $0.contains("--help") }
        // "  See 'apns-batch send --help' for more information."
        if let command = hint?.split(separator: "'").dropFirst().first { lines.append("see \(command)") }
        return (lines, code == .validationFailure ? ExitStatus.usage : code)
    }
}
