import CAPNSReactor
import Glibc
import Testing

@Suite("Sending and receiving")
struct SendingTests {
    @Test("Two sockets of one loop echo megabytes", arguments: Backend.available)
    func echo(backend: Backend) throws {
        let loop = try Loop(backend)
        let (listener, port) = try loop.listen(context: 7)
        let client = try loop.connect(port: port, context: 8)
        let opening = try loop.events { $0.count >= 2 }
        let accepted = try #require(opening.first { $0.kind == APNS_REACTOR_ACCEPTED })
        #expect(accepted.context == 7)
        #expect(opening.first { $0.kind == APNS_REACTOR_CONNECTED }?.context == 8)

        let question = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 3_000_000)
        defer { question.deallocate() }
        _ = question.initialize(from: pattern(question.count))
        try check(loop.send(client, UnsafeBufferPointer(question)))
        #expect(loop.send(client, UnsafeBufferPointer(question)) == -EBUSY)

        // The server sends its bytes back as soon as its last send is complete.
        let answer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: question.count)
        defer { answer.deallocate() }
        var received = 0
        var started = 0
        var sending = false
        var echoed: [UInt8] = []
        while echoed.count < question.count {
            let events = loop.wait(linger: 100_000, batch: 100)
            try #require(!events.isEmpty)
            for event in events where event.kind == APNS_REACTOR_RECEIVED {
                try #require(event.error == 0)
                if event.socket == client {
                    echoed += event.bytes
                } else {
                    _ = answer[received...].update(fromContentsOf: event.bytes)
                    received += event.length
                }
            }
            if events.contains(where: { $0.kind == APNS_REACTOR_SENT && $0.socket == accepted.socket }) {
                sending = false
            }
            if !sending && started < received {
                try check(loop.send(accepted.socket, UnsafeBufferPointer(rebasing: answer[started..<received])))
                sending = true
                started = received
            }
        }
        #expect(echoed.elementsEqual(question))
        for socket in [client, accepted.socket, listener] {
            try check(loop.close(socket))
        }
        _ = try loop.events { $0.count { $0.kind == APNS_REACTOR_CLOSED } == 3 }
    }

    @Test("A buffer of megabytes arrives complete at a slow reader", arguments: Backend.available)
    func slowReader(backend: Backend) throws {
        let loop = try Loop(backend)
        let listener = try Peer.bound(receiveBuffer: 4096)
        let (socket, peer) = try loop.connected(to: listener)
        let bytes = pattern(2_000_000)
        let read = Outbox()
        let reader = Worker { read.bytes = (try? peer.read(exactly: bytes.count)) ?? [] }
        try bytes.withUnsafeBufferPointer { buffer in
            try check(loop.send(socket, buffer))
            let sent = try loop.next(APNS_REACTOR_SENT)
            #expect(sent.error == 0)
            #expect(sent.length == bytes.count)
        }
        reader.join()
        #expect(read.bytes == bytes)
    }

    @Test("Bytes arrive complete and in order through few and small receive buffers", arguments: Backend.available)
    func fewBuffers(backend: Backend) throws {
        let loop = try Loop(backend, bufferBytes: 64, buffers: 2)
        let listener = try Peer.bound()
        let pairs = try (0..<6).map { _ in try loop.connected(to: listener) }
        let sent = pairs.indices.map { pattern(5000, seed: UInt64($0)) }
        for (pair, bytes) in zip(pairs, sent) {
            try pair.peer.write(bytes)
        }
        var received = [UInt64: [UInt8]]()
        while received.values.reduce(0, { $0 + $1.count }) < 6 * 5000 {
            let events = loop.wait()
            try #require(!events.isEmpty)
            #expect(events.count { $0.kind == APNS_REACTOR_RECEIVED } <= 2)
            for event in events where event.kind == APNS_REACTOR_RECEIVED {
                received[event.socket, default: []] += event.bytes
            }
        }
        for (pair, bytes) in zip(pairs, sent) {
            #expect(received[pair.socket] == bytes)
        }
    }

    @Test("Nothing is sent before the next wait", arguments: Backend.available)
    func sendsAreBatched(backend: Backend) throws {
        let loop = try Loop(backend)
        let (socket, peer) = try loop.connected(to: Peer.bound())
        try ([1, 2, 3] as [UInt8]).withUnsafeBufferPointer { buffer in
            try check(loop.send(socket, buffer))
            #expect(!peer.hasBytes)
            #expect(try loop.next(APNS_REACTOR_SENT).length == 3)
        }
        #expect(try peer.read(exactly: 3) == [1, 2, 3])
    }

    @Test("An empty send, or one on an unknown socket or a listener, is refused", arguments: Backend.available)
    func misuse(backend: Backend) throws {
        let loop = try Loop(backend)
        let (listener, _) = try loop.listen()
        let (socket, _) = try loop.connected(to: Peer.bound())
        ([1] as [UInt8]).withUnsafeBufferPointer { buffer in
            #expect(loop.send(socket, UnsafeBufferPointer(rebasing: buffer[..<0])) == -EINVAL)
            #expect(loop.send(listener, buffer) == -ENOTCONN)
            #expect(loop.send(0, buffer) == -EBADF)
            #expect(loop.send(UInt64.max, buffer) == -EBADF)
        }
    }

    @Test("Hundreds of connections echo in one loop", arguments: Backend.available)
    func manySockets(backend: Backend) throws {
        let count = 200
        let loop = try Loop(backend, sockets: UInt32(2 * count + 1), buffers: 8)
        let (_, port) = try loop.listen(context: 1, backlog: UInt32(count))
        let clients = try (0..<count).map { try loop.connect(port: port, context: UInt64(1000 + $0)) }
        let word = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 16)
        defer { word.deallocate() }
        word.initialize(repeating: 42)
        var echoed = Set<UInt64>()
        while echoed.count < count {
            let events = loop.wait()
            try #require(!events.isEmpty)
            for event in events {
                try #require(event.error == 0)
                switch event.kind {
                case APNS_REACTOR_CONNECTED:
                    try check(loop.send(event.socket, UnsafeBufferPointer(word)))
                case APNS_REACTOR_RECEIVED where event.context == 1:
                    #expect(event.length == 16)
                    try check(loop.send(event.socket, UnsafeBufferPointer(word)))
                case APNS_REACTOR_RECEIVED:
                    echoed.insert(event.socket)
                default:
                    break
                }
            }
        }
        #expect(echoed == Set(clients))
    }
}

/// Bytes that one thread writes, and that another one reads after it has joined the first.
final class Outbox: @unchecked Sendable {
    var bytes: [UInt8] = []
}
