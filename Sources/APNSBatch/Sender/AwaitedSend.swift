import APNSBatchModel
import APNSBatchSending
import Synchronization

/// A task that awaits the end of its submission.
final class AwaitedSend: SubmissionOwner, @unchecked Sendable {
    /// Written before the submission, whose end is the only reader.
    private var continuation: UnsafeContinuation<Mailbox.End, Never>?
    /// The id, and a bit that says whether there is one.
    private let bits = Atomic<UInt64>(0)

    func begin(_ continuation: UnsafeContinuation<Mailbox.End, Never>) { self.continuation = continuation }

    func submissionDidEnd(_ end: Mailbox.End) { continuation?.resume(returning: end) }

    /// The id of the submission. It is set after the task can be cancelled.
    var id: UInt64? {
        get {
            let bits = bits.load(ordering: .sequentiallyConsistent)
            return bits >> 63 == 1 ? bits & ~(1 << 63) : nil
        }
        set { bits.store(newValue.map { $0 | 1 << 63 } ?? 0, ordering: .sequentiallyConsistent) }
    }
}
