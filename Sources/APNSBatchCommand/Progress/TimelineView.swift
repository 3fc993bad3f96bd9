import APNSBatch
import APNSBatchBasics
import Foundation

/// The text of `status --follow`: a screen on a terminal, and single lines elsewhere.
enum TimelineView {
    /// Returns the lines of a screen. Facts that do not fit are left out; only the first line may be longer than the terminal
    /// is wide.
    ///
    /// - Parameter now: In milliseconds since 1970.
    static func screen(
        _ window: TimelineWindow, directory: String, now: Int64, width: Int, isUTF8: Bool
    ) -> [String] {
        guard let point = window.latest else { return [directory, "waiting for the first record"] }
        let progress = CampaignProgress(point)
        let bar = ProgressText.bar(
            progress, rate: window.perSecond(\.rows, over: 60) ?? 0, width: width, isOver: point.kind == .end)
        let parts = [
            ("rate", rate(window, point)), ("rows", outcomes(point)), ("requests", requests(point)),
            ("streams", streams(point)), ("answers", answers(point)), ("process", process(window, point)),
        ]
        var lines = [title(point, directory: directory, now: now), isUTF8 ? bar : plain(bar), ""]
        lines += parts.map { name, facts in label(name) + fit(facts, width: width - label("").count) }
        let columns = min(60, width - label("").count - 24)
        if columns >= 10 {
            let rates = window.rates(intervals: columns, seconds: 5)
            let most = rates.compactMap { $0 }.max() ?? 0
            lines += ["", label("rows/s") + Sparkline.text(rates, isUTF8: isUTF8) + " max \(number(most))/s"]
        }
        return lines
    }

    /// Returns one line.
    static func line(_ window: TimelineWindow) -> String {
        guard let point = window.latest else { return "waiting for the first record" }
        let text = ProgressText.line(
            CampaignProgress(point), rate: window.perSecond(\.rows, over: 10) ?? 0, isOver: point.kind == .end)
        let p99 = point.answerTimes.map { ", p99 \(milliseconds($0.p99)) ms" } ?? ""
        return text + p99 + (point.heldBackBy.map { ", held back by \($0)" } ?? "")
    }

    // MARK: Lines of the screen

    private static func title(_ point: TimelinePoint, directory: String, now: Int64) -> String {
        let age = max(0, now - point.unixMilliseconds) / 1000
        let state =
            point.kind == .end ? "ended" : age >= 4 ? "no record for \(ProgressText.duration(Double(age)))" : "running"
        let elapsed = ProgressText.duration(Double(point.elapsedMilliseconds) / 1000)
        let session = point.session > 1 ? ", session \(point.session)" : ""
        return "\(state), \(elapsed)\(session): \(directory)"
    }

    private static func rate(_ window: TimelineWindow, _ point: TimelinePoint) -> [String] {
        func rate(_ seconds: UInt64) -> String { window.perSecond(\.rows, over: seconds).map(number) ?? "-" }
        var facts = ["\(rate(1)) rows/s", "\(rate(60))/s in the last minute"]
        if point.isPaused { facts.append("paused") }
        if let limit = point.rateLimit { facts.append("limit \(number(limit)) requests/s") }
        if let hold = point.heldBackBy, !point.isPaused { facts.append("held back by \(hold)") }
        return facts
    }

    private static func outcomes(_ point: TimelinePoint) -> [String] {
        let found = Outcome.allCases.filter { point[$0] > 0 || $0 == .accepted }
        return found.map { "\(point[$0].grouped) \($0.name)" }
    }

    private static func requests(_ point: TimelinePoint) -> [String] {
        ["\(point.requests.grouped)", "\(point.retries.grouped) retried"]
            + (point.retrying > 0 ? ["\(point.retrying) rows wait to be sent again"] : [])
    }

    private static func streams(_ point: TimelinePoint) -> [String] {
        let opened = point.connectionsOpened == point.connections ? "" : " (\(point.connectionsOpened) opened)"
        let connections = "\(point.connections) connection\(point.connections == 1 ? "" : "s")\(opened)"
        return ["\(point.inFlight) of \(point.streams) in use", connections]
    }

    private static func answers(_ point: TimelinePoint) -> [String] {
        guard let times = point.answerTimes else { return ["none in the last second"] }
        let parts = [("p50", times.p50), ("p90", times.p90), ("p99", times.p99), ("max", times.max)]
        return parts.map { "\($0) \(milliseconds($1)) ms" }
    }

    private static func process(_ window: TimelineWindow, _ point: TimelinePoint) -> [String] {
        let share = window.perSecond(\.cpuMicroseconds, over: 10).map { String(format: "%.0f%%", $0 / 10_000) } ?? "-"
        return ["CPU \(share)", "RSS \(point.rssBytes >> 20) MiB", "\(point.bytesRead >> 20) MiB of input read"]
    }

    // MARK: Parts

    /// Returns as many facts as there is room for.
    private static func fit(_ facts: [String], width: Int) -> String {
        let inOrder = facts.enumerated().map { ProgressFact($1, importance: -$0) }
        return ProgressFacts.fit(inOrder, width: width)
    }

    private static func label(_ text: String) -> String { text.padding(toLength: 10, withPad: " ", startingAt: 0) }

    private static func number(_ rate: Double) -> String { UInt64(saturating: rate).grouped }

    private static func milliseconds(_ time: UInt32) -> String {
        let milliseconds = Double(time) / 1000
        return String(format: milliseconds < 10 ? "%.2f" : milliseconds < 100 ? "%.1f" : "%.0f", milliseconds)
    }

    /// Returns a bar without characters that need UTF-8.
    private static func plain(_ bar: String) -> String {
        String(bar.map { $0 == "█" ? "#" : $0 == "░" ? "." : $0 })
    }
}
