import APNSBatchBasics
import ArgumentParser
import Foundation
import Logging
import Synchronization

/// Standard error. Messages, log lines and progress of all threads are written as separate lines, each of which becomes printable.
///
/// On a terminal, the last line may be a progress bar. A message replaces it, and the bar is drawn again below. Elsewhere,
/// each line begins with the time.
final class Console: Sendable {
    enum Format: String, ExpressibleByArgument, CaseIterable, Sendable {
        case text
        /// One JSON object per line, with time, level and message.
        case json
    }

    static let shared = Console()

    private struct State {
        var format = Format.text
        var hasTimes = false
        /// The bar on the last line; empty if there is none.
        var bar = ""
        var lastFailure: String?
    }

    private let state = Mutex(State())
    private let isTerminal = isatty(STDERR_FILENO) == 1

    /// Sets the format. Commands that run for long call it before their first line.
    func begin(_ format: Format) {
        state.withLock {
            $0.format = format
            $0.hasTimes = format == .json || !isTerminal
        }
    }

    /// Whether a bar can be shown, which needs a terminal that can erase a line.
    var showsBar: Bool {
        let kind = ProcessInfo.processInfo.environment["TERM"] ?? ""
        return isTerminal && !["", "dumb"].contains(kind) && state.withLock { $0.format == .text }
    }

    var width: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Writes a message of the command.
    ///
    /// - Parameter level: the level of a message that does not begin with `warning: `.
    func message(_ text: String, _ level: Logger.Level = .notice) {
        let warning = "warning: "
        let isWarning = text.hasPrefix(warning)
        if level == .error { state.withLock { $0.lastFailure = text } }
        show(
            isWarning ? .warning : level, isWarning ? String(text.dropFirst(warning.count)) : text,
            asText: "apns-batch: \(text)")
    }

    /// Writes messages that together explain why the command failed.
    func failures(_ texts: [String]) {
        for text in texts { message(text, .error) }
        guard let first = texts.first, texts.count > 1 else { return }
        state.withLock { $0.lastFailure = "\(first) (and \(texts.count - 1) more)" }
    }

    /// The last message that explained why the command failed.
    var lastFailure: String? { state.withLock { $0.lastFailure } }

    /// Writes a log line, which always begins with the time.
    func log(_ level: Logger.Level, _ text: String) {
        show(level, text, asText: "apns-batch: \(level): \(text)", alwaysTimed: true)
    }

    func progress(_ text: String) { show(.info, text, asText: text) }

    /// Draws the bar again; an empty text erases it.
    func draw(bar: String) {
        state.withLock { state in
            state.bar = Printable.text(bar)
            write(Self.erased + state.bar)
        }
    }

    private static let erased = "\r\u{1B}[K"

    /// Writes a line: `text` in the text format, or an object with level and message in the JSON format.
    private func show(_ level: Logger.Level, _ message: String, asText text: String, alwaysTimed: Bool = false) {
        state.withLock { state in
            let time = state.hasTimes || alwaysTimed ? Self.time() + " " : ""
            let line = Printable.message(state.format == .json ? Self.object(level, message) : time + text)
            write(state.bar.isEmpty ? line + "\n" : Self.erased + line + "\n" + state.bar)
        }
    }

    /// Errors are ignored, because the reader may be gone.
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

/// Writes a line to standard error that explains why the command failed.
func complainOfFailure(_ text: String) { Console.shared.message(text, .error) }

/// The log handler for the library.
struct ConsoleLog: LogHandler {
    var metadata = Logger.Metadata()
    var logLevel: Logger.Level

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { Console.shared.log(event.level, "\(event.message)") }
}
