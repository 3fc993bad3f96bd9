import APNSBatchModel
import APNSBatchSending
import Synchronization

/// A task that awaits the end of its submission.
@safe final class AwaitedSend: SubmissionOwner, @unchecked Sendable {
    /// Written before the submission, whose end is the only reader.
    private var continuation: WaitingTask?
    /// Written before the task is resumed, which is the only reader.
    private var ended: Mailbox.End?
    /// The id with ``isKnown`` once it is known, and ``isCancelled`` once the task is cancelled.
    private let bits = Atomic<UInt64>(0)

    func begin(_ continuation: WaitingTask) { unsafe self.continuation = unsafe continuation }

    func submissionDidEnd(_ end: consuming Mailbox.End, tag: Int) -> WaitingTask? {
        ended = end
        return unsafe continuation
    }

    /// Returns how the submission ended. Called once, by the task that was resumed.
    func takeEnd() -> Mailbox.End {
        guard let end = ended.take() else { preconditionFailure("a task is resumed by the end of its submission") }
        return end
    }

    // MARK: Cancellation

    private static let isKnown: UInt64 = 1 << 63
    private static let isCancelled: UInt64 = 1 << 62

    /// Notes the id of the submission. Returns whether the task was cancelled before; then the caller cancels the submission.
    func didSubmit(_ id: UInt64) -> Bool {
        let (before, _) = bits.bitwiseOr(id | Self.isKnown, ordering: .acquiringAndReleasing)
        return before & Self.isCancelled != 0
    }

    /// Notes that the task is cancelled. Returns the id of the submission, if it is known.
    func cancel() -> UInt64? {
        let (before, _) = bits.bitwiseOr(Self.isCancelled, ordering: .acquiringAndReleasing)
        return before & Self.isKnown != 0 ? before & ~(Self.isKnown | Self.isCancelled) : nil
    }
}
