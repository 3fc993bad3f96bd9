import APNSBatch

/// Shows a run on standard error: a bar a few times a second on a terminal, a line now and then elsewhere.
final class ProgressDisplay: Sendable {
    private let console = Console.shared

    /// Shows what `look` tells until the task is cancelled.
    func follow(_ look: () -> CampaignProgress) async {
        let showsBar = console.showsBar
        let interval: Duration = showsBar ? .milliseconds(250) : .seconds(10)
        var last = look()
        while (try? await Task.sleep(for: interval)) != nil {
            let now = look()
            let rate = ProgressText.rate(from: last, to: now)
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
