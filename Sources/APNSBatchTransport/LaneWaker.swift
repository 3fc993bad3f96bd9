import APNSBatchBasics
import CAPNSTransport

/// Ends the wait of a lane, from any thread. Does nothing before the lane has started or after it has ended.
package final class LaneWaker: Sendable {
    private let handle = Guarded<CoreHandle?>(nil)

    package init() {}

    func attach(_ transport: CoreHandle) { handle.withLock { $0 = transport } }

    /// Called by the transport when it is destroyed.
    package func detach() { handle.withLock { $0 = nil } }

    package func wake() {
        handle.withLock { handle in
            if let handle { unsafe apns_transport_wake(handle.pointer) }
        }
    }
}
