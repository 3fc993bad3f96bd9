import CAPNSReactor
import Glibc
import Testing

@Suite("Ends and closing")
struct ClosingTests {
    @Test("The peer's end of stream is an event, and sending still works", arguments: Backend.available)
    func endOfStream(backend: Backend) throws {
        let loop = try Loop(backend)
        let (socket, peer) = try loop.connected(to: Peer.bound())
        try peer.write([1, 2])
        peer.endWriting()
        let events = try loop.events { $0.last?.length == 0 }
        #expect(events.flatMap(\.bytes) == [1, 2])
        #expect(events.allSatisfy { $0.kind == APNS_REACTOR_RECEIVED && $0.error == 0 && $0.socket == socket })
        try ([3, 4] as [UInt8]).withUnsafeBufferPointer { buffer in
            try check(loop.send(socket, buffer))
            #expect(try loop.next(APNS_REACTOR_SENT).error == 0)
        }
        #expect(try peer.read(exactly: 2) == [3, 4])
        // The end is reported once.
        #expect(loop.wait(timeout: 1_000_000).isEmpty)
    }

    @Test("A reset is an error of receiving, a later send fails, and no signal is raised", arguments: Backend.available)
    func reset(backend: Backend) throws {
        let loop = try Loop(backend)
        let (socket, peer) = try loop.connected(to: Peer.bound())
        peer.reset()
        let event = try loop.next(APNS_REACTOR_RECEIVED)
        #expect(event.error == ECONNRESET)
        #expect(event.socket == socket)
        try ([1] as [UInt8]).withUnsafeBufferPointer { buffer in
            for _ in 0..<2 {
                try check(loop.send(socket, buffer))
                let sent = try loop.next(APNS_REACTOR_SENT)
                #expect(sent.error == EPIPE)
                #expect(sent.length == 0)
            }
        }
        try check(loop.close(socket))
        #expect(loop.wait().map(\.kind) == [APNS_REACTOR_CLOSED])
    }

    @Test("Closing gives up a send, and its buffer can be freed after CLOSED", arguments: Backend.available)
    func closeWhileSending(backend: Backend) throws {
        let loop = try Loop(backend)
        let (socket, peer) = try loop.connected(to: Peer.bound())
        let count = 64 << 20
        // The memory is unmapped after CLOSED, so that a later read of it would fail.
        let memory = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
        let buffer = UnsafeBufferPointer(start: memory.assumingMemoryBound(to: UInt8.self), count: count)
        try check(loop.send(socket, buffer))
        #expect(loop.wait(timeout: 1_000_000).isEmpty)
        try check(loop.close(socket))
        #expect(loop.wait().map(\.kind) == [APNS_REACTOR_CLOSED])
        munmap(memory, count)
        let read = try peer.readToEnd()
        #expect(read.count < count)
        #expect(read == [UInt8](repeating: 0, count: read.count))
    }

    @Test("After close the only event is CLOSED, though bytes and a send are waiting", arguments: Backend.available)
    func closeIsTheLastWord(backend: Backend) throws {
        let loop = try Loop(backend)
        let (socket, peer) = try loop.connected(to: Peer.bound(), context: 77)
        try peer.write(pattern(10_000))
        try ([1] as [UInt8]).withUnsafeBufferPointer { buffer in
            try check(loop.send(socket, buffer))
            try check(loop.close(socket))
            let last = try loop.events { !$0.isEmpty }
            #expect(last.map(\.kind) == [APNS_REACTOR_CLOSED])
            #expect(last.map(\.socket) == [socket])
            #expect(last.map(\.context) == [77])
        }
        #expect(loop.wait(timeout: 1_000_000).isEmpty)
    }

    @Test("Closing before the connection is established ends in CLOSED", arguments: Backend.available)
    func closeWhileConnecting(backend: Backend) throws {
        let loop = try Loop(backend)
        let listener = try Peer.bound()
        let socket = try loop.connect(port: listener.port)
        try check(loop.close(socket))
        #expect(loop.wait().map(\.kind) == [APNS_REACTOR_CLOSED])
    }

    @Test("Destroying a loop ends its connections, also with sends in progress", arguments: Backend.available)
    func destroy(backend: Backend) throws {
        let listener = try Peer.bound()
        let bytes = [UInt8](repeating: 1, count: 16 << 20)
        var peers: [Peer] = []
        try bytes.withUnsafeBufferPointer { buffer in
            let loop = try Loop(backend)
            let (_, port) = try loop.listen()
            for _ in 0..<3 {
                let (socket, peer) = try loop.connected(to: listener)
                try check(loop.send(socket, buffer))
                peers.append(peer)
            }
            _ = try loop.connect(port: listener.port)
            try peers.append(Peer.connected(port: port))
            _ = try loop.next(APNS_REACTOR_ACCEPTED)
        }
        for peer in peers {
            let read = (try? peer.readToEnd()) ?? []
            #expect(read.count < bytes.count)
        }
    }
}
