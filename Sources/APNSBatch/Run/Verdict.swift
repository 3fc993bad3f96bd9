import APNSBatchBasics
import APNSBatchModel
import APNSBatchNotification

/// The verdict on a run: one sentence with the result and the next step.
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
                ? sentence("OK", [account(summary)] + repetitions(summary) + goingOn(summary))
                : sentence(
                    "LOOK", failures(summary, scope) + unfinished(summary) + repetitions(summary) + goingOn(summary))
        case .interrupted:
            sentence(
                "FAILED",
                [summary.cause ?? "the run was interrupted"] + repetitions(summary) + [rest(summary, scope)]
                    + goingOn(summary))
        case .failed:
            sentence(
                "FAILED",
                [summary.cause ?? "the cause is unknown"] + repetitions(summary)
                    + [summary.lostRecord ?? rest(summary, scope)] + goingOn(summary))
        }
    }

    private static func sentence(_ kind: String, _ parts: [String]) -> String {
        "\(kind): \(parts.joined(separator: "; "))"
    }

    /// `998,600 of 1,000,000 rows accepted, 1,400 rejected (Unregistered 1,390, BadDeviceToken 10), in 6 min 51 s`.
    private static func account(_ summary: CampaignSummary) -> String {
        let others = Outcome.allCases.filter { $0 != .accepted && summary[$0] > 0 }.map { outcome in
            "\(summary[outcome].grouped) \(outcome.name)\(reasons(summary.totals[reasonsOf: outcome]))"
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
    static func known(_ reason: String) -> KnownReason? {
        if case .known(let known) = Reason(rawValue: reason) { known } else { nil }
    }

    /// The most frequent reason is first.
    static func sorted(_ counts: [String: UInt64]) -> [(key: String, value: UInt64)] {
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

    /// What other processes are still sending for the campaign.
    private static func goingOn(_ summary: CampaignSummary) -> [String] {
        summary.othersAtWork.prefix(shownFailures).map { "another run goes on: \($0.sentence)" }
    }

    private static func failures(_ summary: CampaignSummary, _ scope: Scope) -> [String] {
        let failed = summary.expectations.filter { $0.holds == false }
        let more = failed.count > shownFailures ? ["\(failed.count - shownFailures) more are not met"] : []
        let shown = failed.prefix(shownFailures)
        return shown.map(\.sentence) + more + VerdictAdvice.texts(about: shown.map(\.metric), summary, scope)
    }

    /// Pushes that a device may have got more than once.
    private static func repetitions(_ summary: CampaignSummary) -> [String] {
        let resent = summary.resent > 0 ? ["\(rows(summary.resent)) may have arrived twice"] : []
        let duplicates = summary.lastSession.duplicateTokens.map { found in
            let rows = "\(found.isEstimate ? "about " : "")\(rows(found.rows))"
            return "\(rows) \(found.rows == 1 ? "has" : "have") the token of another row"
        }
        return resent + (duplicates.map { [$0] } ?? [])
    }

    private static func rows(_ count: UInt64) -> String { "\(count.grouped) row\(count == 1 ? "" : "s")" }

    private static func rest(_ summary: CampaignSummary, _ scope: Scope) -> String {
        let ended = summary.rows == 0 ? "no row has ended" : "\(summary.rows.grouped) rows have ended"
        // A run with another exit code cannot be resumed before something was changed.
        let isResumable = [69, 71, 75].contains(summary.exitCode) && summary.campaign.isResumable
        guard let left = summary.left else { return ended }
        let rows = "\(summary.isLeftEstimated ? "about " : "")\(left.grouped) row\(left == 1 ? " is" : "s are") left"
        return "\(ended), \(rows)\(isResumable && left > 0 ? ": resume the \(scope == .run ? "run" : "campaign")" : "")"
    }
}

extension CampaignSummary {
    /// The figures that expectations are about.
    var figures: RunFigures {
        RunFigures(
            totals, seconds: allSessions.elapsedSeconds, acceptedPerSecond: allSessions.acceptedPerSecond)
    }
}
