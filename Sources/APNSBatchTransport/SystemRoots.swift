import APNSBatchBasics
import CAPNSTransport

/// The certificates that the system trusts: read from the disk when they are first needed, once for all lanes and providers
/// of a campaign.
package final class SystemRoots: Sendable {
    private struct Handle: @unchecked Sendable { var pointer: OpaquePointer? }
    private let handle = Guarded(Handle(pointer: nil))

    package init() {}

    deinit { handle.withLock { apns_transport_roots_free($0.pointer) } }

    func loaded() throws(TransportError) -> OpaquePointer {
        try handle.withLock { handle throws(TransportError) in
            if let pointer = handle.pointer { return pointer }
            var error = apns_error()
            let status = apns_transport_roots_load(&handle.pointer, &error)
            guard status == 0, let pointer = handle.pointer else { throw TransportError(status: status, record: error) }
            return pointer
        }
    }
}
