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

    /// The share of the input that was read; nil while its size is not known.
    static func share(_ progress: CampaignProgress) -> Double? {
        guard let total = progress.bytesTotal, total > 0 else { return nil }
        // The last rows are still on their way when the last byte has been read.
        return min(0.99, Double(progress.bytesRead) / Double(total))
    }

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
        var text = "\(progress.rows) rows, \(progress.waiting?.description ?? "\(Int(rate))/s")"
        if progress.isCanary { text = "canary, " + text }
        if let left = remaining(progress) { text += ", \(duration(left)) left" }
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

    private static func remaining(_ progress: CampaignProgress) -> Double? {
        guard let share = share(progress), share > 0.01, share < 0.99, progress.rows > 0 else { return nil }
        return progress.elapsedSeconds * (1 - share) / share
    }

    static func duration(_ seconds: Double) -> String {
        let whole = Int(seconds.rounded())
        if whole < 60 { return "\(whole)s" }
        if whole < 3600 { return "\(whole / 60)m\(String(format: "%02d", whole % 60))s" }
        return "\(whole / 3600)h\(String(format: "%02d", whole % 3600 / 60))m"
    }
}
