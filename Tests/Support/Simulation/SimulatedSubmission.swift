import APNSBatchModel
import APNSBatchSending
import APNSBatchSimulator

/// A notification that a simulation submits, and how it ends.
final class SimulatedSubmission: SubmissionOwner, @unchecked Sendable {
    let row: InputRow
    /// When it is submitted and when its time is over, in the time of the simulated world.
    let time: UInt64
    let deadline: UInt64
    /// When its task is cancelled; nil for never.
    let cancelledAt: UInt64?
    /// Set when it is submitted.
    var id: UInt64?
    var isSubmitted = false
    var isCancelled = false
    private(set) var ends: [Mailbox.End] = []

    init(_ row: InputRow, time: UInt64, deadline: UInt64, cancelledAt: UInt64?) {
        (self.row, self.time, self.deadline, self.cancelledAt) = (row, time, deadline, cancelledAt)
    }

    func submissionDidEnd(_ end: consuming Mailbox.End, tag: Int) -> WaitingTask? {
        ends.append(end)
        return nil
    }

    var hasEnded: Bool { !ends.isEmpty }

    var notification: PushNotification {
        PushNotification(
            deviceToken: row.kind == .badToken ? "x" : row.token, topic: Stage.topic,
            payload: #"{"aps":{"alert":"Hello \#(row.name)"}}"#,
            expiration: row.kind == .expired ? .at(1_000_000_000) : nil,
            collapseID: row.isCollapsible ? "c\(row.number)" : nil)
    }

    /// Compares its end with what the server saw, when nothing can arrive any more.
    ///
    /// - Parameters:
    ///   - policy: The policy for requests that may have been sent.
    ///   - closed: When the sender took no more notifications.
    ///   - graceEnds: When answers were not awaited any more.
    func findings(_ witness: Witness, policy: UnknownPolicy, closed: UInt64, graceEnds: UInt64) -> [String] {
        let (received, accepted) = (witness.received(row.number), witness.accepted(row.number))
        var found: [String] = []
        func expect(_ holds: Bool, _ text: String) {
            if !holds {
                found.append("notification \(row.number): \(text); it was received \(received) times: \(ends)")
            }
        }
        expect(ends.count == 1, "has \(ends.count) ends")
        if !row.mayGoTwice(policy) { expect(accepted <= 1, "was accepted \(accepted) times") }
        switch ends.first {
        case .success(let result)?: check(result, witness, expect)
        case .failure(let error)?: check(error, received, accepted, closed: closed, graceEnds: graceEnds, expect)
        case nil: break
        }
        return found
    }

    private func check(_ result: SendResult, _ witness: Witness, _ expect: (Bool, String) -> Void) {
        let statuses = witness.statuses[row.number] ?? []
        switch result.outcome {
        case .accepted: expect(statuses.contains(200) && result.status == 200, "was not accepted")
        case .rejected, .unavailable:
            expect(result.status.map { statuses.contains(UInt16($0)) } == true, "did not get that status")
            expect(!statuses.contains(200), "was accepted")
        case .invalid, .expired: expect(statuses.isEmpty && !row.isSendable, "should have been sent")
        case .unknown: expect(result.arrival == .maybeSent && result.attempts > 0, "was not sent")
        case .suppressed: expect(false, "cannot be suppressed")
        @unknown default: expect(false, "has an outcome that is not known here")
        }
        if result.arrival == .answered { expect(result.answerTime != nil || result.status != nil, "has no answer") }
    }

    private func check(
        _ error: SendError, _ received: Int, _ accepted: Int, closed: UInt64, graceEnds: UInt64,
        _ expect: (Bool, String) -> Void
    ) {
        switch error.arrival {
        case .notSent: expect(received == 0, "arrived, but counts as not sent")
        case .answered: expect(received > 0 && accepted == 0, "was accepted, but counts as refused")
        case .maybeSent: break
        @unknown default: expect(false, "has an arrival that is not known here")
        }
        switch error.code {
        case .cancelled: expect(isCancelled, "was not cancelled")
        case .timedOut, .unreachable: expect(deadline < .max, "has no deadline")
        case .shuttingDown: expect(time >= closed || graceEnds < .max, "ended before its sender")
        case .notRunning: expect(false, "its sender was running")
        @unknown default: expect(false, "has a code that is not known here")
        }
    }
}
