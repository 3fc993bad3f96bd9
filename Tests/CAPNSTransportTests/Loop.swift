import CAPNSTransport
import Testing

/// An event loop under test. Every test of connections runs with each one that this machine supports.
enum Loop: UInt32, CaseIterable, CustomTestStringConvertible {
    case ioUring = 1
    case epoll = 2

    var testDescription: String {
        "\(self)"
    }

    /// A container may forbid io_uring. In that case, only the other loop is tested.
    static let available = allCases.filter { (try? Side(Limits(loop: $0))) != nil }
}

/// The options of a transport in a test.
struct Limits {
    var loop = Loop.epoll
    var connections: UInt32 = 8
    var streams: UInt32 = 4096
    var bodyReceived: UInt32 = 4096
    var requestTimeoutMs: UInt32 = 10_000
    var connectTimeoutMs: UInt32 = 10_000
    var sendBuffer: UInt32 = 65_536
    var captures: [String] = []
}
