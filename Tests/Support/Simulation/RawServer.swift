import CAPNSReactor
import Glibc

/// A connection of a ``RawServer``.
package protocol RawConnection: AnyObject {
    /// What is sent when the connection is up. The client receives each element by itself.
    func greet() -> [[UInt8]]
    /// Takes bytes of the client, and returns what is sent, likewise.
    func take(_ bytes: [UInt8]) -> [[UInt8]]
}

/// A server in a simulated world that sends any bytes over the substitute for TLS. It must be the first member of its
/// world.
package final class RawServer {
    /// Its number in the world.
    package let number: UInt32 = 0
    package private(set) var port: UInt16 = 0
    private let world: SimulatedWorld
    private let reactor: OpaquePointer
    private let accept: (_ index: Int) -> any RawConnection
    private var links: [UInt64: Link] = [:]
    private var accepted = 0
    /// The time between two pieces, in nanoseconds, in which the client reads the first of them.
    private static let gap: UInt64 = 1_000_000

    /// - Parameter accept: makes the connection with an index, from 0.
    package init(_ world: SimulatedWorld, accept: @escaping (_ index: Int) -> any RawConnection) {
        var options = apns_reactor_options()
        (options.sockets_max, options.receive_buffer_bytes, options.receive_buffer_count) = (1024, 32_768, 64)
        (self.world, self.accept) = (world, accept)
        reactor = world.join(options)!
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        var socket: apns_reactor_socket = 0
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                apns_reactor_listen(reactor, $0, socklen_t(MemoryLayout<sockaddr_in>.size), 64, 0, &socket)
            }
        }
        precondition(status == 0)
        port = UInt16(apns_reactor_local_port(reactor, socket))
    }

    deinit { apns_reactor_destroy(reactor) }

    /// The number of connections so far.
    package var connections: Int { accepted }

    /// Does what is due.
    package func turn() {
        for (socket, link) in links { link.send(reactor, socket, now: world.now) }
        var options = apns_reactor_wait_options()
        let due = links.values.map(\.due).min() ?? .max
        options.timeout_ns = due == .max ? .max : due > world.now ? due - world.now : 0
        var events = [apns_reactor_event](repeating: apns_reactor_event(), count: 64)
        let count = apns_reactor_wait(reactor, &options, &events, 64)
        for event in events.prefix(Int(max(0, count))) { take(event) }
    }

    private func take(_ event: apns_reactor_event) {
        switch event.kind {
        case APNS_REACTOR_ACCEPTED.rawValue:
            links[event.socket] = Link(accept(accepted))
            accepted += 1
        case APNS_REACTOR_RECEIVED.rawValue:
            guard event.error == 0, event.length > 0 else { return close(event.socket) }
            links[event.socket]?.take(Array(UnsafeBufferPointer(start: event.bytes, count: Int(event.length))))
            if links[event.socket]?.isOver == true { close(event.socket) }
        case APNS_REACTOR_SENT.rawValue: links[event.socket]?.sent(at: world.now, isGood: event.error == 0)
        case APNS_REACTOR_CLOSED.rawValue: links[event.socket] = nil
        default: break
        }
    }

    private func close(_ socket: UInt64) {
        links[socket]?.isClosing = true
        _ = apns_reactor_close(reactor, socket)
    }

    /// The records of a connection (see tls_plain.c).
    private final class Link {
        private static let (hello, data, goodbye): (UInt8, UInt8, UInt8) = (1, 2, 3)
        let connection: any RawConnection
        /// Whether the client has said goodbye.
        private(set) var isOver = false
        var isClosing = false
        private var received: [UInt8] = []
        private var waiting: [[UInt8]] = []
        private var flight: UnsafeMutableBufferPointer<UInt8>?
        private var next: UInt64 = 0

        init(_ connection: any RawConnection) { self.connection = connection }

        deinit { flight?.deallocate() }

        /// When something is to be sent.
        var due: UInt64 { waiting.isEmpty || flight != nil || isClosing ? .max : next }

        func take(_ bytes: [UInt8]) {
            received += bytes
            while received.count >= 3 {
                let length = Int(received[1]) << 8 | Int(received[2])
                guard received.count >= 3 + length else { return }
                let (kind, body) = (received[0], Array(received[3..<3 + length]))
                received.removeFirst(3 + length)
                switch kind {
                case Self.hello:
                    waiting.append([Self.hello, 0, 0])
                    waiting += connection.greet().map(Self.records)
                case Self.data: waiting += connection.take(body).map(Self.records)
                default: isOver = true
                }
            }
        }

        private static func records(_ bytes: [UInt8]) -> [UInt8] {
            stride(from: 0, to: bytes.count, by: 16_384).flatMap { begin in
                let body = bytes[begin..<min(begin + 16_384, bytes.count)]
                return [data, UInt8(body.count >> 8), UInt8(body.count & 255)] + body
            }
        }

        func send(_ reactor: OpaquePointer, _ socket: UInt64, now: UInt64) {
            guard due <= now else { return }
            let bytes = waiting.removeFirst()
            guard !bytes.isEmpty else { return }
            let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
            _ = buffer.initialize(from: bytes)
            flight = buffer
            if apns_reactor_send(reactor, socket, buffer.baseAddress, buffer.count) != 0 { isClosing = true }
        }

        func sent(at now: UInt64, isGood: Bool) {
            flight?.deallocate()
            flight = nil
            next = now + RawServer.gap
            if !isGood { waiting = [] }
        }
    }
}
