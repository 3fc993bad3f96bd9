import APNSBatchBasics
import CAPNSTransport

/// A failure of the transport itself. The description is for people and never contains a secret.
package struct TransportError: Error, CustomStringConvertible, Sendable {
    package enum Kind: Sendable {
        /// A programming error of the caller.
        case misuse
        /// No memory or descriptors, an invalid key or certificate, or an event loop that the kernel refuses.
        case resource
        case peer
        case network
    }

    package let kind: Kind
    package let code: Int64
    package let description: String

    init(status: Int32, record: apns_error) {
        kind =
            switch status {
            case APNS_RESOURCE.rawValue: .resource
            case APNS_PEER.rawValue: .peer
            case APNS_NETWORK.rawValue: .network
            default: .misuse
            }
        code = record.code
        let text = textOfCharacters(record.text)
        description = text.isEmpty ? "transport failed with status \(status)" : text
    }

    init(status: Int32, doing what: String) {
        self.init(status: status, record: apns_error())
        self = TransportError(kind: kind, code: code, description: "\(what) failed with status \(status)")
    }

    /// Creates the error for a failure of the loop itself.
    init(loop: LoopKind, error: Int32) {
        let isRing = loop == .ioUring
        self.init(
            kind: .resource, code: Int64(error),
            description: "the \(isRing ? "io_uring" : "epoll") event loop failed: \(systemMessage(error))"
                + (isRing ? "; epoll may work instead (loop: epoll)" : ""))
    }

    private init(kind: Kind, code: Int64, description: String) {
        self.kind = kind
        self.code = code
        self.description = description
    }
}
