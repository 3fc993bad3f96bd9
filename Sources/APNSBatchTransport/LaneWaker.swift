import APNSBatchBasics
import CAPNSTransport

/// Ends a lane's wait from any thread, also before the lane has begun and after it has ended (then it does nothing).
package final class LaneWaker: Sendable {
    private struct Handle: @unchecked Sendable { var pointer: OpaquePointer? }
    private let handle = Guarded(Handle(pointer: nil))

    package init() {}

    func attach(_ pointer: OpaquePointer) { handle.withLock { $0.pointer = pointer } }

    /// The transport calls this as it goes.
    package func detach() { handle.withLock { $0.pointer = nil } }

    package func wake() {
        handle.withLock { handle in
            if let pointer = handle.pointer { apns_transport_wake(pointer) }
        }
    }
}
