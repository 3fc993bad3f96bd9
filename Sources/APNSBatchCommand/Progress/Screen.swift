import APNSBatchBasics
import Foundation

/// Standard output as a screen that is drawn again and again. It takes the alternate screen of the terminal, as `top` does, so
/// that nothing of what was shown before is lost, and a change of size leaves nothing behind.
struct Screen {
    /// The columns and rows of the terminal, which may change at any time.
    private var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    var width: Int { size.columns }

    /// Whether standard output is a terminal that can be drawn on.
    static var isAvailable: Bool {
        let kind = ProcessInfo.processInfo.environment["TERM"] ?? ""
        return isatty(STDOUT_FILENO) == 1 && !["", "dumb"].contains(kind)
    }

    /// Whether the terminal takes UTF-8 according to the locale (POSIX.1-2017, section 8.2).
    static var isUTF8: Bool {
        let environment = ProcessInfo.processInfo.environment
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        return locale.lowercased().replacing("-", with: "").hasSuffix("utf8")
    }

    /// Switches to the alternate screen, without a cursor and without wrapping lines.
    func begin() { write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l") }

    /// Draws the lines in place of the ones before. Those for which there is no room are left out.
    func draw(_ lines: [String]) {
        let size = size
        let shown = lines.prefix(size.rows).map { String(Printable.text($0).prefix(size.columns)) + "\u{1B}[K" }
        write("\u{1B}[H" + shown.joined(separator: "\r\n") + "\u{1B}[J")
    }

    /// Returns to the screen that was there before.
    func end() { write("\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l") }

    private func write(_ text: String) { Output.screen(text) }
}
