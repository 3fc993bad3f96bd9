import ArgumentParser
import Logging

/// How much a run says, and in which form.
struct OutputArguments: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Report every connection on standard error.")
    var verbose = false

    @Flag(
        name: .shortAndLong,
        help: "Print errors only, and the summary of a run whose exit code is not 0.")
    var quiet = false

    @Flag(help: "Show no progress.")
    var noProgress = false

    @Flag(help: "Print the content of summary.json instead of lines of text.")
    var json = false

    @Option(help: "Lines on standard error: text, or json (time, level, message). (default: text)")
    var logFormat: Console.Format?

    /// Before the first line.
    func begin() { Console.shared.begin(logFormat ?? .text) }

    var logger: Logger {
        let level: Logger.Level = verbose ? .info : quiet ? .error : .warning
        return Logger(label: "apns-batch") { _ in ConsoleLog(logLevel: level) }
    }

    /// A line on standard error that is no error.
    func say(_ text: String) {
        if !quiet { complain(text) }
    }
}
