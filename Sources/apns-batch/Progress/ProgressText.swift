import APNSBatch
import Foundation

/// How progress reads.
enum ProgressText {
    /// Rows a second between two looks.
    static func rate(from: CampaignProgress, to: CampaignProgress) -> Double {
        let seconds = to.elapsedSeconds - from.elapsedSeconds
        guard seconds > 0, to.rows >= from.rows else { return 0 }
        return Double(to.rows - from.rows) / seconds
    }

    /// The share of the rows that have ended; nil while the number of rows is not known.
    static func share(_ progress: CampaignProgress) -> Double? { progress.fraction.map { min(0.99, $0) } }

    static func bar(_ progress: CampaignProgress, rate: Double, width: Int) -> String {
        let facts = facts(progress, rate: rate)
        guard let share = share(progress) else { return String(facts.prefix(max(0, width - 1))) }
        let percent = String(format: "%3d%% ", Int(share * 100))
        let room = width - 1 - facts.count - percent.count - 3
        guard room >= 10 else { return String((percent + facts).prefix(max(0, width - 1))) }
        let full = Int(share * Double(room))
        let bar = String(repeating: "█", count: full) + String(repeating: "░", count: room - full)
        return "\(percent)\(bar) \(facts)"
    }

    static func line(_ progress: CampaignProgress, rate: Double) -> String {
        let percent = share(progress).map { "\(Int($0 * 100))% " } ?? ""
        return percent + facts(progress, rate: rate)
    }

    private static func facts(_ progress: CampaignProgress, rate: Double) -> String {
        let pace = progress.waiting?.description ?? "\(SummaryText.grouped(UInt64(max(0, rate))))/s"
        var text = "\(SummaryText.grouped(progress.rows)) rows, \(pace)"
        if progress.isCanary { text = "canary, " + text }
        if let left = remaining(progress, rate: rate) { text += ", \(duration(left)) left" }
        // A check has none.
        if progress.connections > 0 || progress.rows == 0 && progress.waiting == nil {
            text += ", \(progress.connections) connection\(progress.connections == 1 ? "" : "s")"
            text += ", \(progress.inFlight)/\(progress.streams) streams"
        }
        if progress.retrying > 0 { text += ", \(progress.retrying) waiting to be sent again" }
        if progress.rejected > 0 { text += ", \(progress.rejected) rejected" }
        if progress.invalid > 0 { text += ", \(progress.invalid) invalid" }
        return text
    }

    /// Seconds until all rows have ended at this rate.
    private static func remaining(_ progress: CampaignProgress, rate: Double) -> Double? {
        guard let total = progress.rowsTotal, total > progress.rows, rate >= 0.1 else { return nil }
        return Double(total - progress.rows) / rate
    }

    static func duration(_ seconds: Double) -> String {
        let whole = Int(seconds.rounded())
        if whole < 60 { return "\(whole)s" }
        if whole < 3600 { return "\(whole / 60)m\(String(format: "%02d", whole % 60))s" }
        return "\(whole / 3600)h\(String(format: "%02d", whole % 3600 / 60))m"
    }
}
