import APNSBatchBasics
import APNSBatchModel
import APNSBatchNotification

/// The verdict on a run: one sentence that says how it ended and what to do.
enum Verdict {
    /// What a summary is about.
    enum Scope {
        case run
        /// All parts of a distributed campaign. Their files and commands are those of single parts.
        case parts
    }

    static func text(of summary: CampaignSummary, _ scope: Scope = .run) -> String {
        switch summary.ending {
        case .complete:
            summary.isClean
                ? "OK: \(account(summary))"
                : "LOOK: \((failures(summary, scope) + unfinished(summary)).joined(separator: "; "))"
        case .interrupted:
            "FAILED: \(summary.cause ?? "the run was interrupted"); \(rest(summary, scope))"
        case .failed: "FAILED: \(summary.cause ?? "the cause is unknown"); \(rest(summary, scope))"
        }
    }

    /// `998,600 of 1,000,000 rows accepted, 1,400 rejected (Unregistered 1,390, BadDeviceToken 10), in 6 min 51 s`.
    private static func account(_ summary: CampaignSummary) -> String {
        let others = Outcome.allCases.filter { $0 != .accepted && summary[$0] > 0 }.map { outcome in
            "\(summary[outcome].grouped) \(outcome.name)\(reasons(summary.reasons(of: outcome)))"
        }
        let accepted = "\(summary.accepted.grouped) of \(summary.rows.grouped) rows accepted"
        return ([accepted] + others + ["in \(ElapsedTime.text(summary.allSessions.elapsedSeconds))"]).joined(
            separator: ", ")
    }

    private static let shownReasons = 3

    private static func reasons(_ counts: [String: UInt64]) -> String {
        let sorted = sorted(counts)
        guard !sorted.isEmpty else { return "" }
        let shown = sorted.prefix(shownReasons).map { "\(known($0.key)?.text ?? "other") \($0.value.grouped)" }
        return " (\((shown + (sorted.count > shownReasons ? ["…"] : [])).joined(separator: ", ")))"
    }

    /// Nil for a reason that APNs does not document. Such a text is never shown: it may be anything, even a device token.
    private static func known(_ reason: String) -> KnownReason? {
        if case .known(let known) = Reason(rawValue: reason) { known } else { nil }
    }

    /// The most frequent reason is first.
    private static func sorted(_ counts: [String: UInt64]) -> [(key: String, value: UInt64)] {
        counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    }

    private static let shownFailures = 3

    /// What other runs of the campaign have to finish.
    private static func unfinished(_ summary: CampaignSummary) -> [String] {
        let forgotten = summary.forgotten
        let more = forgotten.count - shownFailures
        return forgotten.prefix(shownFailures).map { "another run is not finished: \($0.sentence)" }
            + (more > 0 ? ["\(more) more are not finished"] : [])
    }

    private static func failures(_ summary: CampaignSummary, _ scope: Scope) -> [String] {
        let failed = summary.expectations.filter { $0.holds == false }
        let more = failed.count > shownFailures ? ["\(failed.count - shownFailures) more are not met"] : []
        let advice = failed.first.map { [Self.advice(about: $0.metric, summary, scope)] } ?? []
        return failed.prefix(shownFailures).map(\.sentence) + more + advice
    }

    /// What to do about a figure that is not as expected.
    private static func advice(about metric: String, _ summary: CampaignSummary, _ scope: Scope) -> String {
        if let reason = metric.afterPrefix("reason:") { return advice(reason: reason) }
        switch metric {
        case "rows": return "check the export that wrote the input"
        case "accepted":
            guard summary.rows > 0 else { return "the input has no rows: check the export that wrote it" }
            let others = Outcome.allCases.filter { $0 != .accepted }
            let main = others.max { summary[$0] < summary[$1] } ?? .rejected
            return "\(summary[main].grouped) rows are \(main.name): \(advice(about: "\(main.name)", summary, scope))"
        case "rejected": return sorted(summary.reasons).first.map { advice(reason: $0.key) } ?? "see results.csv"
        case "unavailable":
            let run = scope == .run ? "the run" : "the parts that have them"
            return "resume \(run) with --retry-unavailable to send these rows again"
        case "invalid":
            let file = scope == .run ? "summary.json" : "report.json"
            return "correct the rows: invalid_rules in \(file) says where the first ones are"
        case "unknown":
            return "these rows may have arrived: decide whether to send those again that results.csv lists"
        case "expired" where summary.changes.contains { $0.text == CampaignRun.abandonment }:
            return "the run was given up"
        case "expired": return "start earlier, send faster, or allow more time (not_after, expiration)"
        case "duration", "rate": return "compare all_sessions in summary.json with an earlier night"
        default: return "see results.csv"
        }
    }

    private static func advice(reason text: String) -> String {
        guard let known = known(text) else { return "APNs does not document the reason: see results.csv" }
        return "\(known.text): \(known.remedy ?? known.rule.note)"
    }

    private static func rest(_ summary: CampaignSummary, _ scope: Scope) -> String {
        let ended = summary.rows == 0 ? "no row has ended" : "\(summary.rows.grouped) rows have ended"
        // A run with another exit code cannot be resumed before something was changed.
        let isResumable = [69, 71, 75].contains(summary.exitCode) && summary.campaign.isResumable
        guard let left = summary.left else { return ended }
        let rows = "\(summary.isLeftEstimated ? "about " : "")\(left.grouped) row\(left == 1 ? " is" : "s are") left"
        return "\(ended), \(rows)\(isResumable && left > 0 ? ": resume the \(scope == .run ? "run" : "campaign")" : "")"
    }
}

extension String {
    /// The rest of a text that begins with `prefix`.
    fileprivate func afterPrefix(_ prefix: String) -> String? {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
    }
}

extension CampaignSummary {
    fileprivate func reasons(of outcome: Outcome) -> [String: UInt64] {
        switch outcome {
        case .rejected: reasons
        case .unavailable: unavailableReasons
        case .accepted, .invalid, .unknown, .expired, .suppressed: [:]
        }
    }

    /// The figures that expectations are about.
    var figures: RunFigures {
        var figures = RunFigures()
        figures.rows = rows
        (figures.accepted, figures.rejected, figures.unavailable) = (accepted, rejected, unavailable)
        (figures.invalid, figures.unknown, figures.expired) = (invalid, unknown, expired)
        figures.suppressed = suppressed
        figures.reasons = reasons.merging(unavailableReasons) { $0 + $1 }
        (figures.seconds, figures.acceptedPerSecond) = (allSessions.elapsedSeconds, allSessions.acceptedPerSecond)
        return figures
    }
}
