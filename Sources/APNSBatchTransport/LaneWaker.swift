import APNSBatchBasics
import CAPNSTransport

/// Ends a lane's wait from any thread, also before the lane has begun and after it has ended (then it does nothing).
package final class LaneWaker: Sendable {
    private let handle = Guarded<CoreHandle?>(nil)

    package init() {}

    func attach(_ transport: CoreHandle) { handle.withLock { $0 = transport } }

    /// The transport calls this as it goes.
    package func detach() { handle.withLock { $0 = nil } }

    package func wake() {
        handle.withLock { handle in
            if let handle { unsafe apns_transport_wake(handle.pointer) }
        }
    }
}
