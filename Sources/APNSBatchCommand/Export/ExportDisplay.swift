import APNSBatchBasics
import APNSBatchPostgres

/// Shows the progress of an export on standard error: as the last line of a terminal, and as a line every ten seconds elsewhere.
struct ExportDisplay {
    private let console = Console.shared
    private let begin = SystemClock.monotonicSeconds()
    private var last: Double

    init() { last = begin }

    mutating func show(_ progress: ExportProgress) {
        let now = SystemClock.monotonicSeconds()
        guard now - last >= (console.showsBar ? 0.25 : 10) else { return }
        last = now
        let text = Self.text(progress, seconds: now - begin)
        if console.showsBar {
            console.draw(bar: String(text.prefix(console.width - 1)))
        } else {
            console.progress(text)
        }
    }

    func end() {
        if console.showsBar { console.draw(bar: "") }
    }

    /// `45% 450,000 of 1,000,000 rows, 52,000/s`.
    private static func text(_ progress: ExportProgress, seconds: Double) -> String {
        let share = progress.recorded > 0 ? progress.written * 100 / progress.recorded : 100
        let rate = UInt64(Double(progress.added) / max(seconds, 0.001))
        return "\(share)% \(progress.written.grouped) of \(progress.recorded.grouped) rows, \(rate.grouped)/s"
    }
}
