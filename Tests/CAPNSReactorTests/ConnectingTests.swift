import CAPNSReactor
import Glibc
import Testing

@Suite("Connecting and accepting")
struct ConnectingTests {
    @Test("A refused connection is an event, and CLOSED is the last one", arguments: Backend.available)
    func refused(backend: Backend) throws {
        let loop = try Loop(backend)
        let deaf = try Peer.bound(listening: false)
        let socket = try loop.connect(port: deaf.port, context: 5)
        let event = try loop.next(APNS_REACTOR_CONNECTED)
        #expect(event.error == ECONNREFUSED)
        #expect(event.socket == socket)
        #expect(event.context == 5)
        ([1] as [UInt8]).withUnsafeBufferPointer { #expect(loop.send(socket, $0) == -ENOTCONN) }
        try check(loop.close(socket))
        #expect(loop.wait().map(\.kind) == [APNS_REACTOR_CLOSED])
    }

    @Test(
        "The kernel applies the time limit for unacknowledged bytes", arguments: Backend.available,
        [0, 7000] as [UInt32])
    func userTimeout(backend: Backend, milliseconds: UInt32) throws {
        let loop = try Loop(backend)
        let listener = try Peer.bound()
        apns_reactor_user_timeout_set(loop.reactor, milliseconds)
        let (socket, _) = try loop.connected(to: listener)
        #expect(Self.userTimeouts(localPort: loop.localPort(socket)) == [milliseconds])
    }

    /// Returns the time limits of this process's connected sockets with a local port.
    private static func userTimeouts(localPort: Int32) -> [UInt32] {
        (0..<Int32(65536)).compactMap { descriptor in
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let status = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
            }
            guard status == 0, Int32(UInt16(bigEndian: address.sin_port)) == localPort else { return nil }
            var limit: UInt32 = 0
            var size = socklen_t(MemoryLayout<UInt32>.size)
            return getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &limit, &size) == 0 ? limit : nil
        }
    }

    @Test("A reused slot has a new generation, and the old handle is refused", arguments: Backend.available)
    func generations(backend: Backend) throws {
        let loop = try Loop(backend, sockets: 1)
        let listener = try Peer.bound()
        var handles: [UInt64] = []
        for round in 0..<5 {
            let (socket, _) = try loop.connected(to: listener, context: UInt64(round))
            #expect(throws: Refused(code: -ENOSPC)) { try loop.connect(port: listener.port) }
            try check(loop.close(socket))
            #expect(loop.close(socket) == -EBADF)
            #expect(try loop.next(APNS_REACTOR_CLOSED).socket == socket)
            handles.append(socket)
        }
        #expect(Set(handles).count == 5)
        #expect(Set(handles.map { UInt32(truncatingIfNeeded: $0) }).count == 1)
        let (socket, _) = try loop.connected(to: listener)
        for old in handles {
            #expect(loop.close(old) == -EBADF)
            #expect(loop.setContext(old, 1) == -EBADF)
            #expect(loop.localPort(old) == -EBADF)
        }
        try check(loop.close(socket))
    }

    @Test("Connections beyond the slots wait until a slot is free", arguments: Backend.available)
    func slotsRunOut(backend: Backend) throws {
        let loop = try Loop(backend, sockets: 3)
        let (_, port) = try loop.listen()
        let peers = try (0..<7).map { _ in try Peer.connected(port: port) }
        for (index, peer) in peers.enumerated() {
            try peer.write([UInt8(index)])
        }
        var seen: [UInt8] = []
        var open = 0
        while seen.count < peers.count {
            let events = loop.wait()
            try #require(!events.isEmpty)
            for event in events {
                switch event.kind {
                case APNS_REACTOR_ACCEPTED:
                    #expect(event.error == 0)
                    open += 1
                    #expect(open <= 2)
                case APNS_REACTOR_RECEIVED where event.length > 0:
                    seen += event.bytes
                    try check(loop.close(event.socket))
                case APNS_REACTOR_CLOSED:
                    open -= 1
                default:
                    break
                }
            }
        }
        #expect(seen.sorted() == [0, 1, 2, 3, 4, 5, 6])
    }

    @Test("A closed listener accepts no more connections", arguments: Backend.available)
    func listenerCloses(backend: Backend) throws {
        let loop = try Loop(backend)
        let (listener, port) = try loop.listen()
        let peer = try Peer.connected(port: port)
        let accepted = try loop.next(APNS_REACTOR_ACCEPTED)
        try check(loop.close(listener))
        #expect(try loop.next(APNS_REACTOR_CLOSED).socket == listener)
        #expect(throws: Refused(code: -ECONNREFUSED)) { try Peer.connected(port: port) }
        try peer.write([9])
        #expect(try loop.receive(1, on: accepted.socket) == [9])
    }

    @Test("A port in use is refused at once", arguments: Backend.available)
    func portInUse(backend: Backend) throws {
        let loop = try Loop(backend)
        let taken = try Peer.bound()
        var socket: apns_reactor_socket = 1
        withLoopback(port: taken.port) { address, length in
            #expect(apns_reactor_listen(loop.reactor, address, length, 4, 0, &socket) == -EADDRINUSE)
        }
        #expect(socket == 0)
    }

    @Test("An address of another family is refused at once", arguments: Backend.available)
    func otherFamily(backend: Backend) throws {
        let loop = try Loop(backend)
        var address = sockaddr()
        address.sa_family = sa_family_t(AF_UNIX)
        var socket: apns_reactor_socket = 1
        let status = apns_reactor_connect(loop.reactor, &address, socklen_t(MemoryLayout<sockaddr>.size), 0, &socket)
        #expect(status == -EAFNOSUPPORT)
        #expect(socket == 0)
    }

    @Test("A listener without free descriptors reports it, pauses, and goes on", arguments: Backend.available)
    func descriptorsRunOut(backend: Backend) async {
        await #expect(processExitsWith: .success) { [backend] in
            let loop = try Loop(backend)
            let (_, port) = try loop.listen()
            let peers = try [Peer.connected(port: port), Peer.connected(port: port)]
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let before = limit
            limit.rlim_cur = 3
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let start = loop.now
            let first = loop.wait()
            let second = loop.wait()
            // There is one error per pause, not a flood of errors.
            precondition(first.map(\.error) == [EMFILE] && second.map(\.error) == [EMFILE])
            precondition(first[0].kind == APNS_REACTOR_ACCEPTED && first[0].socket == 0)
            precondition(loop.now - start >= 50_000_000)
            var restored = before
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &restored)
            let accepted = try loop.events { $0.count { $0.kind == APNS_REACTOR_ACCEPTED } == peers.count }
            precondition(accepted.allSatisfy { $0.error == 0 })
        }
    }
}
