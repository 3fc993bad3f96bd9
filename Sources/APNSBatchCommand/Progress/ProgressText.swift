import APNSBatch
import APNSBatchBasics
import Foundation

enum ProgressText {
    /// Returns the rows per second between two snapshots.
    static func rate(from: CampaignProgress, to: CampaignProgress) -> Double {
        let seconds = to.elapsedSeconds - from.elapsedSeconds
        guard seconds > 0, to.rows >= from.rows else { return 0 }
        return Double(to.rows - from.rows) / seconds
    }

    /// Returns the share of the rows that have ended, or nil while the number of rows is unknown. It is less than 1 until the run has ended.
    static func share(_ progress: CampaignProgress, isOver: Bool = false) -> Double? {
        progress.fraction.map { isOver ? $0 : min(0.99, $0) }
    }

    /// The minimum width of the bar. Facts are omitted to make room for it.
    private static let barMin = 10

    /// Returns a line of less than `width` columns.
    static func bar(_ progress: CampaignProgress, rate: Double, width: Int, isOver: Bool = false) -> String {
        let facts = facts(progress, rate: rate)
        let room = max(0, width - 1)
        guard let share = share(progress, isOver: isOver) else { return ProgressFacts.fit(facts, width: room) }
        let percent = String(format: "%3d%% ", Int(share * 100))
        let text = ProgressFacts.fit(facts, width: room - percent.count - barMin - 1)
        let length = room - percent.count - text.count - 1
        guard length >= barMin, !text.isEmpty else {
            return percent + ProgressFacts.fit(facts, width: max(0, room - percent.count))
        }
        let full = Int(share * Double(length))
        let bar = String(repeating: "█", count: full) + String(repeating: "░", count: length - full)
        return "\(percent)\(bar) \(text)"
    }

    static func line(_ progress: CampaignProgress, rate: Double, isOver: Bool = false) -> String {
        let percent = share(progress, isOver: isOver).map { "\(Int($0 * 100))% " } ?? ""
        return percent + ProgressFacts.fit(facts(progress, rate: rate), width: .max)
    }

    private static func facts(_ progress: CampaignProgress, rate: Double) -> [ProgressFact] {
        var facts: [ProgressFact] = []
        if progress.isCanary { facts.append(.init("canary", importance: 8)) }
        facts.append(.init("\(progress.rows.grouped) rows", importance: 10))
        facts.append(pace(progress, rate: rate))
        if let left = remaining(progress, rate: rate) { facts.append(.init("\(duration(left)) left", importance: 7)) }
        // A check has no connections.
        if progress.connections > 0 || progress.rows == 0 && progress.waiting == nil {
            let count = progress.connections
            facts.append(.init("\(count) connection\(count == 1 ? "" : "s")", short: "\(count) conn.", importance: 1))
            let streams = "\(progress.inFlight)/\(progress.streams)"
            facts.append(.init("\(streams) streams", short: streams, importance: 2))
        }
        if progress.retrying > 0 {
            let waiting = "\(progress.retrying) waiting"
            facts.append(.init("\(waiting) to be sent again", short: waiting, importance: 5))
        }
        if progress.rejected > 0 { facts.append(.init("\(progress.rejected) rejected", importance: 6)) }
        if progress.invalid > 0 { facts.append(.init("\(progress.invalid) invalid", importance: 4)) }
        return facts
    }

    /// Returns the rate with its limit and what holds it back, or why nothing is sent.
    private static func pace(_ progress: CampaignProgress, rate: Double) -> ProgressFact {
        if let waiting = progress.waiting {
            return ProgressFact(waiting.description, short: short(waiting), importance: 9)
        }
        let now = "\(UInt64(saturating: rate).grouped)/s"
        guard let limit = progress.rateLimit else { return ProgressFact(now, importance: 9) }
        let most = max(1, UInt64(saturating: limit)).grouped
        let cause = progress.heldBackBy.map { ", held back by: \($0)" } ?? ""
        return ProgressFact("\(now) (limit \(most)/s\(cause))", short: "\(now) of \(most)", importance: 9)
    }

    /// Returns a short reason why nothing is sent, for a line of 80 columns. The log has the full reason.
    private static func short(_ waiting: CampaignProgress.Waiting) -> String {
        switch waiting {
        case .resolving: "resolving"
        case .unreachable(let cause, 0), .unreachable(let cause, .max): brief(cause)
        case .unreachable(let cause, let left): "\(brief(cause)); \(left) s more"
        case .backingOff: "backing off"
        default: waiting.description
        }
    }

    /// Returns the system's message for a failed connect: `Connection refused` from `cannot connect to … (Connection refused)`.
    private static func brief(_ cause: String) -> String {
        let last = cause.split(separator: cause.hasSuffix(")") ? "(" : ": ").last ?? ""
        let text = last.hasSuffix(")") ? last.dropLast() : last
        return text.isEmpty || text.count > 40 ? "no connection" : String(text)
    }

    /// Returns the seconds until all rows have ended at this rate, or nil while nothing is sent.
    private static func remaining(_ progress: CampaignProgress, rate: Double) -> Double? {
        guard progress.waiting == nil, let total = progress.rowsTotal, total > progress.rows, rate >= 0.1 else {
            return nil
        }
        return Double(total - progress.rows) / rate
    }

    static func duration(_ seconds: Double) -> String {
        let whole = UInt64(saturating: seconds)
        if whole < 60 { return "\(whole)s" }
        if whole < 3600 { return "\(whole / 60)m\(String(format: "%02d", whole % 60))s" }
        return "\(whole / 3600)h\(String(format: "%02d", whole % 3600 / 60))m"
    }
}

/// One part of a progress line.
struct ProgressFact {
    var text: String
    /// The text if there is little room.
    var short: String
    /// Facts of low importance are omitted first.
    var importance: Int

    init(_ text: String, short: String? = nil, importance: Int) {
        self.text = text
        self.short = short ?? text
        self.importance = importance
    }
}

enum ProgressFacts {
    /// Returns the facts in their order: in full if they fit into the width, else shortened, else without the least
    /// important ones. A fact is never cut.
    static func fit(_ facts: [ProgressFact], width: Int) -> String {
        let full = facts.map(\.text).joined(separator: ", ")
        if full.count <= width { return full }
        var left = facts
        while true {
            let text = left.map(\.short).joined(separator: ", ")
            if text.count <= width { return text }
            guard let least = left.indices.min(by: { left[$0].importance < left[$1].importance }) else { return "" }
            left.remove(at: least)
        }
    }
}
