import APNSBatch

/// Shows a run on standard error: a bar a few times a second on a terminal, a line now and then elsewhere.
final class ProgressDisplay: Sendable {
    private let console = Console.shared

    /// Shows what `look` tells until the task is cancelled.
    func follow(_ look: () -> CampaignProgress) async {
        let showsBar = console.showsBar
        let interval: Duration = showsBar ? .milliseconds(250) : .seconds(10)
        let share = showsBar ? 0.1 : 0.5
        var smoothed: Double?
        var last = look()
        while (try? await Task.sleep(for: interval)) != nil {
            let now = look()
            // Smoothed, so that a moment without rows, or a stopped process, does not upset the time left.
            let latest = ProgressText.rate(from: last, to: now)
            // A wait says nothing of the rate before and after it.
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
