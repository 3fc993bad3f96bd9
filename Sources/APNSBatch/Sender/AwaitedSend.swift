import APNSBatchModel
import APNSBatchSending
import Synchronization

/// A task that awaits the end of its submission.
final class AwaitedSend: SubmissionOwner, @unchecked Sendable {
    /// Written before the submission, whose end is the only reader.
    private var continuation: UnsafeContinuation<Void, Never>?
    /// Written before the task is resumed, which is the only reader.
    private var ended: Mailbox.End?
    /// The id, and a bit that says whether there is one.
    private let bits = Atomic<UInt64>(0)

    func begin(_ continuation: UnsafeContinuation<Void, Never>) { self.continuation = continuation }

    func submissionDidEnd(_ end: Mailbox.End, tag: Int) {
        ended = end
        continuation?.resume()
    }

    /// How the submission ended. Called by the task that was resumed.
    var end: Mailbox.End {
        guard let ended else { preconditionFailure("a task is resumed by the end of its submission") }
        return ended
    }

    /// The id of the submission. It is set after the task can be cancelled.
    var id: UInt64? {
        get {
            let bits = bits.load(ordering: .sequentiallyConsistent)
            return bits >> 63 == 1 ? bits & ~(1 << 63) : nil
        }
        set { bits.store(newValue.map { $0 | 1 << 63 } ?? 0, ordering: .sequentiallyConsistent) }
    }
}
