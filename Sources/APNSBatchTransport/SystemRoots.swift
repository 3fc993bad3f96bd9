import APNSBatchBasics
import CAPNSTransport

/// The certificates that the system trusts, loaded on first use and shared by all lanes and providers of a campaign.
package final class SystemRoots: Sendable {
    private let handle = Guarded<CoreHandle?>(nil)

    package init() {}

    deinit { handle.withLock { unsafe apns_transport_roots_free($0?.pointer) } }

    func loaded() throws(TransportError) -> CoreHandle {
        try handle.withLock { handle throws(TransportError) in
            if let handle { return handle }
            var error = apns_error()
            var roots: OpaquePointer?
            let status = unsafe apns_transport_roots_load(&roots, &error)
            guard status == 0, let roots = unsafe roots else { throw TransportError(status: status, record: error) }
            let loaded = unsafe CoreHandle(pointer: roots)
            handle = loaded
            return loaded
        }
    }
}
