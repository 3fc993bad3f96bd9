import APNSBatch

/// Shows the progress of a run on standard error: as a bar on a terminal, and as a line every ten seconds elsewhere.
final class ProgressDisplay: Sendable {
    private let console = Console.shared

    /// Shows the progress that `look` returns, until the task is cancelled.
    func follow(_ look: () -> CampaignProgress) async {
        let showsBar = console.showsBar
        let interval: Duration = showsBar ? .milliseconds(250) : .seconds(10)
        let share = showsBar ? 0.1 : 0.5
        var smoothed: Double?
        var last = look()
        while (try? await Task.sleep(for: interval)) != nil {
            let now = look()
            // The rate is smoothed, so that a short pause does not change the remaining time.
            let latest = ProgressText.rate(from: last, to: now)
            // The rate is kept while nothing is sent.
            let rate = now.waiting != nil ? smoothed ?? 0 : smoothed.map { $0 + (latest - $0) * share } ?? latest
            if now.waiting == nil { smoothed = rate }
            if showsBar {
                console.draw(bar: ProgressText.bar(now, rate: rate, width: console.width))
            } else {
                console.progress(ProgressText.line(now, rate: rate))
            }
            last = now
        }
        if showsBar { console.draw(bar: "") }
    }
}
