import APNSBatch
import Foundation

/// Shows a run on standard error: a bar a few times a second on a terminal, a line now and then elsewhere.
final class ProgressDisplay: Sendable {
    private let isTerminal = isatty(STDERR_FILENO) == 1

    /// Shows what `look` tells until the task is cancelled.
    func follow(_ look: () -> CampaignProgress) async {
        let interval: Duration = isTerminal ? .milliseconds(250) : .seconds(10)
        let share = isTerminal ? 0.1 : 0.5
        var rate: Double?
        var last = look()
        while (try? await Task.sleep(for: interval)) != nil {
            let now = look()
            // Smoothed, so that a moment without rows, or a stopped process, does not upset the time left.
            let latest = ProgressText.rate(from: last, to: now)
            rate = rate.map { $0 + (latest - $0) * share } ?? latest
            show(
                isTerminal
                    ? ProgressText.bar(now, rate: rate ?? 0, width: width) : ProgressText.line(now, rate: rate ?? 0))
            last = now
        }
        if isTerminal { write("\r\u{1B}[K") }
    }

    private func show(_ text: String) { write(isTerminal ? "\r\u{1B}[K" + text : text + "\n") }

    private func write(_ text: String) { try? FileHandle.standardError.write(contentsOf: Data(text.utf8)) }

    private var width: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
