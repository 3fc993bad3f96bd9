import CAPNSReactor
import Testing

/// A back end under test. Every test runs with each one that this machine supports.
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

    /// A container may forbid io_uring. In that case, only the other back ends are tested.
    static let available = allCases.filter { backend in
        (try? Loop(backend)) != nil
    }
}
