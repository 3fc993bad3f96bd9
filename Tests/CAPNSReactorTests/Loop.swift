import CAPNSReactor
import Glibc
import Testing

/// A negative errno value as an error.
struct Refused: Error, Equatable {
    var code: Int32
}

/// A copy of an event record that outlives the next wait.
struct Event: Equatable {
    var kind: apns_reactor_event_kind
    var socket: UInt64
    var context: UInt64
    var bytes: [UInt8]
    var length: Int
    var error: Int32

    init(_ record: apns_reactor_event) {
        kind = apns_reactor_event_kind(rawValue: record.kind)
        socket = record.socket
        context = record.context
        bytes = record.bytes.map { Array(UnsafeBufferPointer(start: $0, count: Int(record.length))) } ?? []
        length = Int(record.length)
        error = record.error
    }
}

/// A reactor with the time limit of a test: every expected event must come within ten seconds.
final class Loop {
    static let patience: UInt64 = 10_000_000_000

    let reactor: OpaquePointer

    convenience init(
        _ backend: Backend, sockets: UInt32 = 16, bufferBytes: UInt32 = 4096, buffers: UInt32 = 16
    ) throws {
        try self.init(
            options: apns_reactor_options(
                backend: backend.rawValue, sockets_max: sockets, receive_buffer_bytes: bufferBytes,
                receive_buffer_count: buffers))
    }

    init(adopting reactor: OpaquePointer) { self.reactor = reactor }

    init(options: apns_reactor_options) throws {
        var options = options
        var made: OpaquePointer?
        let status = apns_reactor_create(&options, &made)
        guard status == 0, let made else { throw Refused(code: status) }
        reactor = made
    }

    deinit {
        apns_reactor_destroy(reactor)
    }

    // MARK: Operations

    func listen(context: UInt64 = 0, backlog: UInt32 = 16) throws -> (socket: UInt64, port: UInt16) {
        var socket: apns_reactor_socket = 0
        try withLoopback(port: 0) { address, length in
            try check(apns_reactor_listen(reactor, address, length, backlog, context, &socket))
        }
        let port = apns_reactor_local_port(reactor, socket)
        try check(port)
        return (socket, UInt16(port))
    }

    func connect(port: UInt16, context: UInt64 = 0) throws -> UInt64 {
        var socket: apns_reactor_socket = 0
        try withLoopback(port: port) { address, length in
            try check(apns_reactor_connect(reactor, address, length, context, &socket))
        }
        return socket
    }

    func send(_ socket: UInt64, _ bytes: UnsafeBufferPointer<UInt8>) -> Int32 {
        apns_reactor_send(reactor, socket, bytes.baseAddress, bytes.count)
    }

    func close(_ socket: UInt64) -> Int32 {
        apns_reactor_close(reactor, socket)
    }

    func setContext(_ socket: UInt64, _ context: UInt64) -> Int32 {
        apns_reactor_context_set(reactor, socket, context)
    }

    func localPort(_ socket: UInt64) -> Int32 {
        apns_reactor_local_port(reactor, socket)
    }

    func wake() {
        apns_reactor_wake(reactor)
    }

    var kind: UInt32 {
        apns_reactor_backend_kind(reactor)
    }

    var now: UInt64 {
        apns_reactor_now_ns(reactor)
    }

    // MARK: Waiting

    /// Waits once, and again if a signal ended the wait early.
    func wait(timeout: UInt64 = Loop.patience, linger: UInt64 = 0, batch: UInt32 = 1, capacity: Int = 64) -> [Event] {
        let start = now
        while true {
            let passed = timeout == UInt64.max ? 0 : min(now - start, timeout)
            let events = waitOnce(timeout: timeout - passed, linger: linger, batch: batch, capacity: capacity)
            if !events.isEmpty || passed == timeout {
                return events
            }
        }
    }

    func waitOnce(timeout: UInt64, linger: UInt64, batch: UInt32, capacity: Int) -> [Event] {
        var options = apns_reactor_wait_options(timeout_ns: timeout, linger_ns: linger, batch_min: batch, reserved: 0)
        return withUnsafeTemporaryAllocation(of: apns_reactor_event.self, capacity: capacity) { records in
            let count = apns_reactor_wait(reactor, &options, records.baseAddress, UInt32(capacity))
            #expect(count >= 0)
            return records.prefix(Int(max(count, 0))).map(Event.init)
        }
    }

    /// Collects events until `done` returns true for those collected.
    func events(capacity: Int = 64, until done: ([Event]) throws -> Bool) throws -> [Event] {
        var all: [Event] = []
        while try !done(all) {
            let more = wait(capacity: capacity)
            try #require(!more.isEmpty, "nothing happened within the time limit; so far: \(all)")
            all += more
        }
        return all
    }

    /// Returns the next event of a kind. Events of other kinds are dropped.
    func next(_ kind: apns_reactor_event_kind) throws -> Event {
        try #require(try events { $0.contains { $0.kind == kind } }.first { $0.kind == kind })
    }

    /// Receives bytes of a socket until there are `count`.
    func receive(_ count: Int, on socket: UInt64, capacity: Int = 64) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let more = wait(capacity: capacity)
            try #require(!more.isEmpty)
            for event in more where event.kind == APNS_REACTOR_RECEIVED && event.socket == socket {
                try #require(event.error == 0 && event.length > 0)
                bytes += event.bytes
            }
        }
        return bytes
    }

    /// Connects the loop to a new peer.
    func connected(to listener: Peer, context: UInt64 = 0) throws -> (socket: UInt64, peer: Peer) {
        let socket = try connect(port: listener.port, context: context)
        let event = try next(APNS_REACTOR_CONNECTED)
        try #require(event.error == 0 && event.socket == socket)
        return (socket, try listener.accept())
    }
}

func check(_ status: Int32) throws {
    guard status >= 0 else { throw Refused(code: status) }
}

/// Calls `body` with the address 127.0.0.1 and a port in the form that the system needs.
func withLoopback<R>(port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) throws -> R) rethrows -> R {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return try withUnsafePointer(to: &address) { pointer in
        try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            try body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
}

/// Returns bytes in which a lost, duplicated or moved piece can be detected.
func pattern(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var state = seed
    return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
        for index in 0..<count {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            buffer[index] = UInt8(truncatingIfNeeded: state >> 33)
        }
        filled = count
    }
}
