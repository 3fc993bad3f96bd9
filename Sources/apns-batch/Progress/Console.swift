import ArgumentParser
import Foundation
import Logging
import Synchronization

/// Standard error: messages, log lines and progress, each a line of its own, whichever thread writes them.
///
/// On a terminal the last line may be a bar that is drawn anew; a message erases it, and it comes back below. Anywhere else
/// lines have the time.
final class Console: Sendable {
    /// How lines read.
    enum Format: String, ExpressibleByArgument, CaseIterable, Sendable {
        case text
        /// One JSON object a line: time, level, message.
        case json
    }

    static let shared = Console()

    private struct State {
        var format = Format.text
        var hasTimes = false
        /// What the last line shows, if it is a bar.
        var bar = ""
    }

    private let state = Mutex(State())
    private let isTerminal = isatty(STDERR_FILENO) == 1

    /// For commands that run for long, from their first line on.
    func begin(_ format: Format) {
        state.withLock {
            $0.format = format
            $0.hasTimes = format == .json || !isTerminal
        }
    }

    /// Whether a bar can be shown: on a terminal that can erase a line.
    var showsBar: Bool {
        let kind = ProcessInfo.processInfo.environment["TERM"] ?? ""
        return isTerminal && !["", "dumb"].contains(kind) && state.withLock { $0.format == .text }
    }

    var width: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// A message of the command.
    ///
    /// - Parameter level: of one that is no warning.
    func message(_ text: String, _ level: Logger.Level = .notice) {
        let warning = "warning: "
        let isWarning = text.hasPrefix(warning)
        show(
            isWarning ? .warning : level, isWarning ? String(text.dropFirst(warning.count)) : text,
            asText: "apns-batch: \(text)")
    }

    /// A line of the log; it has the time everywhere.
    func log(_ level: Logger.Level, _ text: String) {
        show(level, text, asText: "apns-batch: \(level): \(text)", alwaysTimed: true)
    }

    /// How far the command is, as a line.
    func progress(_ text: String) { show(.info, text, asText: text) }

    /// Draws the bar anew; an empty text erases it.
    func draw(bar: String) {
        state.withLock { state in
            state.bar = bar
            write(Self.erased + bar)
        }
    }

    private static let erased = "\r\u{1B}[K"

    /// Writes a line: `text` in the format for people, an object with level and message in the other one.
    private func show(_ level: Logger.Level, _ message: String, asText text: String, alwaysTimed: Bool = false) {
        state.withLock { state in
            let time = state.hasTimes || alwaysTimed ? Self.time() + " " : ""
            let line = state.format == .json ? Self.object(level, message) : time + text
            write(state.bar.isEmpty ? line + "\n" : Self.erased + line + "\n" + state.bar)
        }
    }

    /// Nobody there to read it is no failure.
    private func write(_ text: String) { try? FileHandle.standardError.write(contentsOf: Data(text.utf8)) }

    private static func time() -> String {
        Date.now.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    private static func object(_ level: Logger.Level, _ message: String) -> String {
        struct Line: Encodable {
            var time: String
            var level: String
            var message: String
        }
        return (try? JSONLine.text(Line(time: time(), level: level.rawValue, message: message))) ?? "{}"
    }
}

/// Writes a line to standard error.
func complain(_ text: String) { Console.shared.message(text) }

/// Writes a line to standard error that says why the command failed.
func complainOfFailure(_ text: String) { Console.shared.message(text, .error) }

/// The library's log.
struct ConsoleLog: LogHandler {
    var metadata = Logger.Metadata()
    var logLevel: Logger.Level

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { Console.shared.log(event.level, "\(event.message)") }
}
