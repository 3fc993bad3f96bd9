import APNSBatchBasics
import APNSBatchModel
import APNSBatchSending

/// A notification that was submitted, and whose result can be awaited. Without that, the result is dropped.
public struct SendTicket: Sendable {
    private let pending: PendingResult
    private let id: UInt64
    private let mailbox: Mailbox

    init(_ pending: PendingResult, id: UInt64, _ mailbox: Mailbox) {
        (self.pending, self.id, self.mailbox) = (pending, id, mailbox)
    }

    /// Awaits the result. When the task is cancelled, the notification is, as in ``Sender/send(_:timeout:)``.
    public func result() async throws(SendError) -> SendResult {
        let end = await withTaskCancellationHandler {
            await pending.value()
        } onCancel: {
            cancel()
        }
        return try end.get()
    }

    /// Cancels the notification, as if the task of ``Sender/send(_:timeout:)`` were cancelled.
    public func cancel() { mailbox.cancel(id) }
}

/// A result that tasks await, or will await.
final class PendingResult: SubmissionOwner {
    @safe private enum State {
        case awaited([UnsafeContinuation<Mailbox.End, Never>])
        case ended(Mailbox.End)
    }

    private let state = unsafe Guarded(State.awaited([]))

    func submissionDidEnd(_ end: consuming Mailbox.End, tag: Int) -> WaitingTask? {
        let end = end
        let waiting = unsafe state.withLock { state -> [UnsafeContinuation<Mailbox.End, Never>] in
            defer { state = .ended(end) }
            return if case .awaited(let waiting) = state { unsafe waiting } else { unsafe [] }
        }
        unsafe waiting.forEach { unsafe $0.resume(returning: end) }
        return nil
    }

    func value() async -> Mailbox.End {
        await unsafe withUnsafeContinuation { continuation in
            let end = state.withLock { state -> Mailbox.End? in
                switch state {
                case .ended(let end): return end
                case .awaited(let waiting): state = unsafe .awaited(waiting + [continuation])
                }
                return nil
            }
            if let end { unsafe continuation.resume(returning: end) }
        }
    }
}
