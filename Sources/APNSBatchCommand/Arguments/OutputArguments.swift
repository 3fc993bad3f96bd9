import APNSBatch
import ArgumentParser
import Logging

/// The flags that select how much a run prints, and in which format.
struct OutputArguments: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Log every connection on standard error.")
    var verbose = false

    @Flag(
        name: .shortAndLong,
        help: "Print only errors, and the summary if the exit code is not 0.")
    var quiet = false

    @Flag(help: "Do not show progress.")
    var noProgress = false

    @Flag(help: "Print the content of summary.json instead of text.")
    var json = false

    @Option(help: "Format of the lines on standard error: text, or json (time, level, message). (default: text)")
    var logFormat: Console.Format?

    /// Call it before the first line is written.
    func begin() { Console.shared.begin(logFormat ?? .text) }

    var logger: Logger {
        let level: Logger.Level = verbose ? .info : quiet ? .error : .warning
        return Logger(label: "apns-batch") { _ in ConsoleLog(logLevel: level) }
    }

    /// Writes a line that is not an error to standard error, unless `--quiet` is given.
    func say(_ text: String) {
        if !quiet { complain(text) }
    }

    /// Prints the summary of a run in the chosen format. Returns false if it could not be written.
    ///
    /// - Parameter already: Whether the run was complete before this process began.
    func show(_ summary: CampaignSummary, directory: String, already: Bool = false) -> Bool {
        if json {
            Output.line(SummaryText.json(summary, already: already))
        } else if !quiet || summary.exitCode != 0 {
            Output.lines(SummaryText.report(summary, directory: directory, already: already))
        }
        return Output.isComplete()
    }
}
