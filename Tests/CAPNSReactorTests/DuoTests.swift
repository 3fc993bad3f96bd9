import CAPNSReactor
import Glibc
import Testing

@Suite("Two reactors, on the kernel and simulated")
struct DuoTests {
    @Test("Bytes of both directions arrive complete and in order", arguments: Duo.Kind.available)
    func bytes(kind: Duo.Kind) throws {
        let duo = try Duo(kind)
        let (near, far) = try duo.connected()
        let (there, back) = (pattern(300_000, seed: 1), pattern(200_000, seed: 2))
        try there.withUnsafeBufferPointer { there in
            try back.withUnsafeBufferPointer { back in
                try check(duo.client.send(near, there))
                try check(duo.server.send(far, back))
                #expect(duo.client.send(near, there) == -EBUSY)
                try duo.run { atClient, atServer in
                    let sent = [atClient, atServer].map { events in events.first { $0.kind == APNS_REACTOR_SENT } }
                    let done =
                        Self.received(atServer).count == there.count && Self.received(atClient).count == back.count
                    guard done, let first = sent[0], let second = sent[1] else { return false }
                    #expect(Self.received(atServer) == Array(there))
                    #expect(Self.received(atClient) == Array(back))
                    #expect(first.length == there.count && second.length == back.count)
                    return true
                }
            }
        }
    }

    private static func received(_ events: [Event]) -> [UInt8] {
        events.filter { $0.kind == APNS_REACTOR_RECEIVED }.flatMap(\.bytes)
    }

    @Test("A close is an end of stream for the other side, after all that was sent", arguments: Duo.Kind.available)
    func close(kind: Duo.Kind) throws {
        let duo = try Duo(kind)
        let (near, _) = try duo.connected(context: 9)
        let bytes = pattern(5000)
        try bytes.withUnsafeBufferPointer { buffer in
            try check(duo.client.send(near, buffer))
            try duo.run { atClient, _ in atClient.contains { $0.kind == APNS_REACTOR_SENT } }
        }
        try check(duo.client.close(near))
        #expect(duo.client.close(near) == -EBADF)
        var last: Event?
        var seen: [UInt8] = []
        try duo.run { atClient, atServer in
            last = atClient.last
            seen = Self.received(atServer)
            return last?.kind == APNS_REACTOR_CLOSED
                && atServer.contains { $0.kind == APNS_REACTOR_RECEIVED && $0.length == 0 }
        }
        #expect(last?.socket == near && last?.context == 9)
        #expect(seen.suffix(5000) == bytes[...])
    }

    @Test("A connection to a port without a listener is refused", arguments: Duo.Kind.available)
    func refused(kind: Duo.Kind) throws {
        let duo = try Duo(kind)
        let (listener, port) = try duo.server.listen()
        try check(duo.server.close(listener))
        try duo.run { _, atServer in atServer.contains { $0.kind == APNS_REACTOR_CLOSED } }
        let socket = try duo.client.connect(port: port)
        try duo.run { atClient, _ in
            guard let event = atClient.first else { return false }
            #expect(event.kind == APNS_REACTOR_CONNECTED && event.error == ECONNREFUSED && event.socket == socket)
            return true
        }
        ([1] as [UInt8]).withUnsafeBufferPointer { #expect(duo.client.send(socket, $0) == -ENOTCONN) }
    }

    @Test("Connections beyond the slots wait until a slot is free", arguments: Duo.Kind.available)
    func slots(kind: Duo.Kind) throws {
        let duo = try Duo(kind, sockets: 3)
        let (_, port) = try duo.server.listen()
        let sockets = try (0..<3).map { _ in try duo.client.connect(port: port) }
        #expect(throws: Refused(code: -ENOSPC)) { try duo.client.connect(port: port) }
        var accepted: [UInt64] = []
        try duo.run { _, atServer in
            accepted = atServer.filter { $0.kind == APNS_REACTOR_ACCEPTED }.map(\.socket)
            return accepted.count == 2
        }
        try check(duo.server.close(accepted[0]))
        try duo.run { _, atServer in atServer.count { $0.kind == APNS_REACTOR_ACCEPTED } == 3 }
        #expect(sockets.count == 3)
    }

    @Test("A port in use is refused at once", arguments: Duo.Kind.available)
    func portInUse(kind: Duo.Kind) throws {
        let duo = try Duo(kind)
        let (_, port) = try duo.server.listen()
        var socket: apns_reactor_socket = 1
        withLoopback(port: port) { address, length in
            #expect(apns_reactor_listen(duo.client.reactor, address, length, 4, 0, &socket) == -EADDRINUSE)
        }
    }

    @Test("Several wakes before a wait are one event", arguments: Duo.Kind.available)
    func wakes(kind: Duo.Kind) throws {
        let duo = try Duo(kind)
        duo.client.wake()
        duo.client.wake()
        try duo.run { atClient, _ in atClient.map(\.kind) == [APNS_REACTOR_WOKEN] }
        #expect(duo.client.waitOnce(timeout: 0, linger: 0, batch: 1, capacity: 8).isEmpty)
    }
}
