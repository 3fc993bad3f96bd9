import CAPNSReactor
import Testing

/// A back end under test. Every test runs over each one that this machine has.
enum Backend: UInt32, CaseIterable, CustomTestStringConvertible, Codable {
    case ioUring = 1
    case epoll = 2
    case ioUringPlain = 4

    var testDescription: String {
        "\(self)"
    }

    /// The number that `apns_reactor_backend_kind` reports.
    var kind: UInt32 {
        self == .epoll ? APNS_REACTOR_BACKEND_EPOLL.rawValue : APNS_REACTOR_BACKEND_IO_URING.rawValue
    }

    /// A container may forbid io_uring; then the rest is tested without it.
    static let available = allCases.filter { backend in
        (try? Loop(backend)) != nil
    }
}
