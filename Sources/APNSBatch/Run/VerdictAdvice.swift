import APNSBatchBasics
import APNSBatchModel
import APNSBatchNotification

/// What to do about figures that are not as expected: each cause with its own advice, and none twice.
struct VerdictAdvice {
    private let summary: CampaignSummary
    private let scope: Verdict.Scope
    /// The metrics that have their advice already.
    private var covered: Set<String> = []
    private var texts: [String] = []

    private init(_ summary: CampaignSummary, _ scope: Verdict.Scope) { (self.summary, self.scope) = (summary, scope) }

    /// - Parameter metrics: The names of metrics that are not as expected.
    static func texts(about metrics: [String], _ summary: CampaignSummary, _ scope: Verdict.Scope) -> [String] {
        var advice = VerdictAdvice(summary, scope)
        for metric in metrics { advice.add(metric) }
        advice.addNotSent()
        return advice.texts
    }

    /// Adds where the rows are that were not sent because of themselves.
    private mutating func addNotSent() {
        guard scope == .run, let name = summary.notSentFile else { return }
        texts.append("\(name) has the rows that were not sent, and run --correction sends its corrected lines")
    }

    private mutating func add(_ metric: String) {
        guard covered.insert(metric).inserted else { return }
        let outcome = Outcome(name: metric)
        if outcome == .accepted { return addUnaccepted() }
        if outcome == .rejected { coverReasons() }
        texts.append(outcome.map { text(about: $0) } ?? text(about: metric))
    }

    private static let shownOutcomes = 3

    /// Adds what became of the rows that were not accepted.
    private mutating func addUnaccepted() {
        guard summary.rows > 0 else { return texts.append("the input has no rows: check the export that wrote it") }
        let others = Outcome.allCases.filter { $0 != .accepted && summary[$0] > 0 }
        guard !others.isEmpty else {
            return texts.append("every row was accepted: check the export that wrote the input")
        }
        let sorted = others.sorted { summary[$0] > summary[$1] }
        for outcome in sorted.prefix(Self.shownOutcomes) where covered.insert("\(outcome.name)").inserted {
            if outcome == .rejected { coverReasons() }
            let rows = "\(summary[outcome].grouped) row\(summary[outcome] == 1 ? " is" : "s are")"
            texts.append("\(rows) \(outcome.name): \(text(about: outcome))")
        }
    }

    private mutating func coverReasons() {
        for (reason, _) in Verdict.sorted(summary.reasons).prefix(Self.shownReasons) {
            covered.insert("\(Self.reasonPrefix)\(reason)")
        }
    }

    private static let reasonPrefix = "reason:"

    private func text(about metric: String) -> String {
        if metric.hasPrefix(Self.reasonPrefix) {
            let reason = String(metric.dropFirst(Self.reasonPrefix.count))
            return "\(Self.name(of: reason)): \(Self.remedy(of: reason))"
        }
        switch metric {
        case "rows": return "check the export that wrote the input"
        case "duration", "rate": return "compare all_sessions in summary.json with an earlier night"
        default: return Self.unknownCause
        }
    }

    private static let unknownCause = "see results.csv"

    private func text(about outcome: Outcome) -> String {
        if outcome == .rejected { return rejections }
        if outcome == .expired, summary.changes.contains(where: { $0.text == RunPanel.abandonment }) {
            return "the run was given up"
        }
        guard let advice = outcome.advice else { return Self.unknownCause }
        return "\(scope == .run ? advice.ofRun : advice.ofParts)"
    }

    private static let shownReasons = 3

    /// The most frequent reasons, each with the number of its rows and its own remedy. Rejected rows without a reason are counted, too.
    private var rejections: String {
        let sorted = Verdict.sorted(summary.reasons)
        let counted = sorted.reduce(0 as UInt64) { $0 &+ $1.value }
        let without = summary.rejected - min(summary.rejected, counted)
        if let only = sorted.first, sorted.count == 1, without == 0 {
            return "\(Self.name(of: only.key)): \(Self.remedy(of: only.key))"
        }
        let shown = sorted.prefix(Self.shownReasons)
        var parts = shown.map { "\(Self.name(of: $0.key)) \($0.value.grouped) (\(Self.remedy(of: $0.key)))" }
        if without > 0 {
            parts.append(
                "without a reason \(without.grouped) (not an answer of APNs: results.csv has the status; check the destination)"
            )
        }
        let more = sorted.dropFirst(Self.shownReasons).reduce(0 as UInt64) { $0 &+ $1.value }
        if more > 0 { parts.append("other reasons \(more.grouped) (see results.csv)") }
        return parts.isEmpty ? Self.unknownCause : parts.joined(separator: ", ")
    }

    private static func name(of reason: String) -> String { Verdict.known(reason)?.text ?? "another reason" }

    private static func remedy(of reason: String) -> String {
        guard let known = Verdict.known(reason) else { return "APNs does not document the reason: see results.csv" }
        return known.remedy ?? known.rule.note
    }
}
