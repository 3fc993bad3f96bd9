import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import APNSBatchSending
import Glibc

/// What is settled of a run before it begins, and does not change.
package struct RunFacts: Sendable {
    /// The name of the campaign.
    let name: String
    /// The settings, compiled.
    let plan: CampaignPlan
    package let reader: InputReader
    let input: RunInput
    /// What earlier sessions did; nil for a new run.
    let past: RunPast?
    let header: LedgerHeader
    let providers: ProviderDirectory
    let lanes: Int
    /// Nil if no history is kept.
    let history: HistoryPlace?
    let judge: ExpectationJudge
    /// Which rows were judged before the run begins; nil for none.
    let judged: InputJudge.Scope?
    /// Whether the run ends when too many of the latest rows are invalid.
    let watchesRows: Bool
    let template: Campaign.Template?
    /// The columns by which rows are counted at the end.
    let reportBy: [String]
    let syncInterval: Duration

    /// The rows that ended in earlier sessions.
    var outcomesBefore: OutcomeCounts { past?.reading.history.tally.outcomes ?? [:] }

    /// Whether an earlier session read the whole input.
    var isInputRead: Bool { past?.reading.history.isInputRead ?? false }

    /// Whether no rows are left.
    var wasComplete: Bool { past?.reading.history.isComplete ?? false }

    /// The number of the session of the run, from 1.
    var sessionNumber: UInt32 { (past?.reading.history.session?.number ?? 0) + 1 }

    /// The session as the ledger has it.
    ///
    /// - Parameters:
    ///   - boot: The boot id of the system.
    ///   - sendsNothing: Whether the run was given up before it began.
    func session(boot: (UInt64, UInt64), sendsNothing: Bool) -> LedgerSession {
        LedgerSession(
            number: sessionNumber, process: UInt32(getpid()), time: plan.surroundings.seconds(), boot: boot,
            policy: plan.onUnknown, sendsNothing: sendsNothing,
            note: past == nil || header.note == past?.header.note ? [] : header.note)
    }

    /// Judges the chunks of an input before their rows are sent; nil if they were judged, or if an earlier session has sent some.
    var judgeOfChunks: InputJudge? {
        guard judged == nil, !reader.isRepeatable, plan.judgesRows, past?.reading.history.rows ?? 0 == 0 else {
            return nil
        }
        return InputJudge(plan, .first, .standard, cursor: reader.makeCursor())
    }
}
