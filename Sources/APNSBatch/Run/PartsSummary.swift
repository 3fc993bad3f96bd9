import APNSBatchBasics
import APNSBatchModel

/// The summary of a distributed campaign, added up from the summaries of its parts one after the other.
package struct PartsSummary {
    private var sum: CampaignSummary
    /// The rows without a line by what is known of them; nil if a part does not have it.
    private var left: (maybeSent: UInt64, notSent: UInt64, notRead: UInt64)? = (0, 0, 0)
    private var answers = (all: AnswerBinSum(), last: AnswerBinSum())
    private var time = WorkTime()
    private var lastSeconds = 0.0
    private var hasParts = false
    /// More changes than a report shows, so that a rate which was changed for thousands of parts takes no memory.
    private static let changesMax = 1_000

    /// - Parameters:
    ///   - input: What the rows are called.
    ///   - began: When the campaign began, which counts while no part has begun.
    package init(id: CampaignID, input: String, inputBytes: UInt64, began: String) {
        let identity = CampaignSummary.Identity(
            id: id, version: ProductVersion.current, destination: "", input: input, inputBytes: inputBytes,
            began: began, ended: began)
        sum = CampaignSummary(
            left: 0, isLeftEstimated: false, sessions: 0, allSessions: .none, lastSession: .none, invalidRules: [:],
            ending: .complete, exitCode: 0, campaign: identity)
    }

    /// Adds a part.
    ///
    /// - Parameters:
    ///   - number: The number of the part, with which its changes are marked.
    ///   - rows: The number of rows of its input.
    package mutating func add(_ part: CampaignSummary, number: Int, rows: UInt64) {
        sum.add(part)
        answers.all.add(part.allSessions)
        answers.last.add(part.lastSession)
        lastSeconds += part.lastSession.elapsedSeconds
        add(part.campaign, worked: part.allSessions.elapsedSeconds)
        addLeft(part, of: rows)
        guard !part.changes.isEmpty else { return }
        let changes = part.changes.map { RunChange(time: $0.time, text: "part \(number): \($0.text)") }
        sum.changes = Array((sum.changes + changes).sorted { $0.time < $1.time }.prefix(Self.changesMax))
    }

    /// Adds the rows of a part that was not begun.
    package mutating func add(unreadRows rows: UInt64) {
        sum.left = (sum.left ?? 0) &+ rows
        left?.notRead &+= rows
    }

    /// Adds the rows of a part without a summary.
    package mutating func add(leftRows rows: UInt64) {
        sum.left = (sum.left ?? 0) &+ rows
        left = nil
    }

    private mutating func add(_ part: CampaignSummary.Identity, worked seconds: Double) {
        if !hasParts {
            (sum.campaign.version, sum.campaign.destination) = (part.version, part.destination)
            sum.campaign.templateDigest = part.templateDigest
            (sum.campaign.began, sum.campaign.ended) = (part.began, part.ended)
            hasParts = true
        }
        // Times in UTC of the same form are ordered like their texts.
        sum.campaign.began = min(sum.campaign.began, part.began)
        sum.campaign.ended = max(sum.campaign.ended, part.ended)
        guard let began = Self.instant(part.began), let ended = Self.instant(part.ended) else { return }
        time.add(began: began, ended: ended, worked: seconds)
    }

    private static func instant(_ text: String) -> Int64? {
        unsafe Array(text.utf8).withUnsafeBytes { unsafe Timestamp.parse($0) }
    }

    /// The number of rows that are left follows from that of the input, so that it is never estimated.
    private mutating func addLeft(_ part: CampaignSummary, of rows: UInt64) {
        let rest = rows - min(rows, part.rows)
        sum.left = (sum.left ?? 0) &+ rest
        guard rest > 0 else { return }
        guard let maybe = part.maybeSent, let notSent = part.notSent, maybe <= rest, notSent <= rest - maybe else {
            left = nil
            return
        }
        left?.maybeSent &+= maybe
        left?.notSent &+= notSent
        left?.notRead &+= rest - maybe - notSent
    }

    /// The summary of complete parts, judged by the standard expectations.
    package var complete: CampaignSummary {
        var summary = added
        summary.conclude(.standard, .parts)
        return summary
    }

    /// The summary of parts, some of which are not complete.
    ///
    /// - Parameters:
    ///   - ending: `interrupted` or `failed`.
    ///   - cause: Which parts are not complete, and why.
    ///   - exitCode: The exit code of the command for such a run.
    package func incomplete(_ ending: CampaignSummary.Ending, cause: String, exitCode: Int32) -> CampaignSummary {
        var summary = added
        (summary.ending, summary.cause, summary.exitCode) = (ending, cause, exitCode)
        summary.conclude(.standard, .parts)
        return summary
    }

    private var added: CampaignSummary {
        var summary = sum
        (summary.maybeSent, summary.notSent, summary.notRead) = (left?.maybeSent, left?.notSent, left?.notRead)
        for index in summary.breakdowns?.indices ?? 0..<0 {
            summary.breakdowns?[index].limit(to: CampaignSummary.Breakdown.valuesMax)
        }
        summary.allSessions.set(seconds: time.seconds, answers.all)
        summary.lastSession.set(seconds: min(time.seconds, lastSeconds), answers.last)
        return summary
    }
}
