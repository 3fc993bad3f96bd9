import APNSBatch
import ArgumentParser

@main
struct ApnsBatch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apns-batch",
        abstract: "Sends a campaign of push notifications: one row of a CSV, one push, one line of results.",
        discussion: """
            Examples:
              apns-batch send --input rows.csv --to simulator
              apns-batch send campaign.yaml --run-dir runs/tonight
              apns-batch status runs/tonight
              apns-batch resume runs/tonight
              apns-batch check campaign.yaml
              apns-batch broadcast campaign.yaml --input channels.csv
              apns-batch channels list campaign.yaml
              apns-batch doctor campaign.yaml
              apns-batch render campaign.yaml --rows 3
              apns-batch simulate --port 2197

            Exit codes: 0 every row got a final answer from APNs, and some were accepted;
            2 complete, but none was accepted, or some rows are unavailable, invalid,
            unknown, expired or suppressed; 64 wrong usage or configuration, nothing was
            sent; 69 stopped by a fatal answer or because APNs cannot be reached; 71 this
            machine lacks threads, memory, descriptors or an event loop; 75 interrupted,
            or input or disk failed during the run. resume continues a run that ended with
            69, 71 or 75, or was killed.
            """,
        version: ProductVersion.current,
        subcommands: [
            Send.self, Resume.self, Status.self, Check.self, Render.self, Broadcast.self, Channels.self,
            DoctorCommand.self, Simulate.self,
            Reference.self,
        ])

    /// Keys will be in memory. What else the process does for itself first is in CAPNSProcess.
    static func main() async {
        ProcessSecrecy.forbidCoreDumps()
        do {
            var command = try parseAsRoot()
            if var command = command as? AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            if exitCode(for: error) == .validationFailure, !(error is ExitCode) { refuse(error) }
            exit(withError: error)
        }
    }

    /// What the parser did not understand, in the form of all other errors.
    private static func refuse(_ error: any Error) -> Never {
        let text = message(for: error)
        complain(text.prefix(1).lowercased() + text.dropFirst())
        let hint = fullMessage(for: error).split(separator: "\n").last { $0.contains("--help") }
        // "  See 'apns-batch send --help' for more information."
        if let command = hint?.split(separator: "'").dropFirst().first { complain("see \(command)") }
        exit(withError: ExitStatus.usage)
    }
}
