import APNSBatch
import APNSBatchBasics
import Foundation

enum SummaryText {
    /// Returns the lines that are printed at the end of a run.
    ///
    /// - Parameter already: Whether the run was complete before this process began.
    static func report(_ summary: CampaignSummary, directory: String, already: Bool = false) -> [String] {
        let session = summary.lastSession
        return reasons(summary) + [
            "results: \(directory)/results.csv",
            "loop: \(session.process?.loop ?? "none"), connections: \(session.connectionsOpened)", summary.verdict,
            lastLine(summary) + (already ? " already=complete" : ""),
        ]
    }

    /// Returns one line for each rule that rows broke, with the places of the first rows; the most frequent rule is first.
    static func invalid(_ summary: CampaignSummary) -> [String] {
        summary.invalidRules.sorted { ($1.value.rows, $0.key) < ($0.value.rows, $1.key) }.map { rule, rows in
            let places = rows.places.isEmpty ? "" : " (\(rows.places.joined(separator: ", ")))"
            return "invalid \(rows.rows): \(rule)\(places)"
        }
    }

    /// Returns one line for each reason of rejected and unavailable rows; the most frequent reason is first.
    static func reasons(_ summary: CampaignSummary) -> [String] {
        Outcome.allCases.flatMap { outcome in
            summary.totals[reasonsOf: outcome].sorted { ($1.value, $0.key) < ($0.value, $1.key) }
                .map { "\(outcome.name) \($0.value): \($0.key)" }
        }
    }

    /// Returns the line that scripts read.
    static func lastLine(_ summary: CampaignSummary) -> String {
        // Unknown counts are omitted, because scripts expect numbers.
        func pair(_ name: String, _ rows: UInt64?) -> String { rows.map { "\(name)=\($0) " } ?? "" }
        let outcomes = Outcome.allCases.map { "\($0.name)=\(summary[$0]) " }.joined()
        return "rows=\(summary.rows) \(outcomes)"
            + pair("left", summary.left) + pair("may_be_sent", summary.maybeSent)
            + pair("not_sent", summary.notSent) + pair("not_read", summary.notRead) + "resent=\(summary.resent) "
            + seconds(summary.allSessions)
            + (summary.sessions > 1
                ? " sessions=\(summary.sessions) " + seconds(summary.lastSession, prefix: "session_") : "")
    }

    private static func seconds(_ work: CampaignSummary.Work, prefix: String = "") -> String {
        String(format: "\(prefix)seconds=%.3f \(prefix)per_second=%.0f", work.elapsedSeconds, work.acceptedPerSecond)
    }

    /// Returns what to do about rows that were not sent because of themselves, or nil if there are none.
    ///
    /// - Parameter campaignFile: The path of the campaign file; nil for a run without one, which cannot be corrected.
    static func correction(_ summary: CampaignSummary, directory: String, campaignFile: String?) -> String? {
        guard let name = summary.notSentFile else { return nil }
        let rows = summary.rows(where: \.canBeCorrected)
        let file = "\(directory)/\(name)"
        let text = "\(rows.grouped) row\(rows == 1 ? " was" : "s were") not sent: \(file.shellQuoted)"
        guard let campaignFile else { return text }
        return text + "; send its corrected lines with apns-batch run \(campaignFile.shellQuoted) --correction "
            + "\(directory.shellQuoted) --input CORRECTED"
    }

    /// Returns what to do about rows without an outcome, or nil if there are none.
    static func advice(_ summary: CampaignSummary, directory: String) -> String? {
        guard summary.ending != .complete else { return nil }
        guard let left = summary.left else {
            let cannotResume = !summary.campaign.isResumable
            return cannotResume
                ? "rows are left, and a campaign from standard input or a pipe cannot be resumed"
                : "rows are left: apns-batch resume \(directory.shellQuoted)"
        }
        guard left > 0 else { return nil }
        let maybe = summary.maybeSent ?? 0
        let sent = maybe > 0 ? " (\(maybe.grouped) of them may have been sent)" : ""
        let rows = "\(summary.isLeftEstimated ? "about " : "")\(left.grouped) row\(left == 1 ? " is" : "s are") left"
        return "\(rows)\(sent): apns-batch resume \(directory.shellQuoted)"
    }

    /// Returns the content of `summary.json` on one line, with `already` if the run was complete before.
    static func json(_ summary: CampaignSummary, already: Bool = false) -> String {
        (try? already ? JSONLine.text(Again(summary: summary)) : JSONLine.text(summary)) ?? "{}"
    }

    /// The summary of a run that was complete before.
    private struct Again: Encodable {
        let summary: CampaignSummary

        private enum Key: CodingKey { case already }

        func encode(to encoder: any Encoder) throws {
            try summary.encode(to: encoder)
            var members = encoder.container(keyedBy: Key.self)
            try members.encode("complete", forKey: .already)
        }
    }
}
