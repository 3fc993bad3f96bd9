import CAPNSTransport
import Testing

/// Tests with frames that a peer may repeat without limit. Memory is limited, so that the connection would end if
/// anything were kept of each frame. The connection must not end, and the answer that follows the frames must be
/// received.
@Suite("Floods")
struct FloodTests {
    static let repeated = 20_000

    /// Frames that have no effect, or no further effect when they are repeated. Stream 1 is that of the request.
    static let harmless: [(String, [Frame])] = [
        ("priorities", [Frame(type: Frame.priority, stream: 1, payload: [0, 0, 0, 0, 16])]),
        ("priorities of streams never begun", [Frame(type: Frame.priority, stream: 77, payload: [0, 0, 0, 0, 16])]),
        ("frames of no known type", [Frame(type: 0x77, stream: 1, payload: [UInt8](repeating: 1, count: 64))]),
        ("window updates", [Frame(type: 8, payload: bigEndian(1)), Frame(type: 8, stream: 1, payload: bigEndian(1))]),
        ("interim answers", [Frame(type: Frame.headers, flags: 4, stream: 1, payload: interim)]),
        ("answers to pings never sent", [Frame(type: Frame.ping, flags: 1, payload: [UInt8](repeating: 7, count: 8))]),
    ]

    /// `:status: 103` and `link: xxxxxxxx` as literals.
    private static let interim: [UInt8] =
        [0x08, 3] + Array("103".utf8) + [0x00, 4] + Array("link".utf8) + [8] + [UInt8](repeating: 0x78, count: 8)

    @Test("Frames without effect are ignored, and nothing grows", arguments: harmless.map(\.0))
    func passedOver(name: String) throws {
        let setup = try WireTests.Setup(Limits(loop: .epoll, connections: 2, streams: 16, requestTimeoutMs: 120_000))
        setup.submit([Request(ticket: 1)])
        setup.drive { setup.peer.frames(Frame.headers).count == 1 }
        let frames = try #require(Self.harmless.first { $0.0 == name }?.1)
        send(frames, to: setup)
        setup.peer.send([.ok(1)])
        setup.drive { !setup.client.outcomes.isEmpty || setup.client.down != nil }
        #expect(setup.client.down == nil, "\(String(describing: setup.client.down))")
        #expect(setup.client.outcomes.first?.status == 200)
    }

    @Test("Body bytes are counted, and kept up to the limit")
    func body() throws {
        let setup = try WireTests.Setup(
            Limits(loop: .epoll, connections: 2, streams: 16, bodyReceived: 100, requestTimeoutMs: 120_000))
        setup.submit([Request(ticket: 1)])
        setup.drive { setup.peer.frames(Frame.headers).count == 1 }
        setup.peer.send([.ok(1, end: false)])
        let piece = Frame(type: Frame.data, stream: 1, payload: [UInt8](repeating: 0x61, count: 1000))
        send([piece], to: setup, times: 8000)
        setup.peer.send([Frame(type: Frame.data, flags: Frame.endStream, stream: 1)])
        setup.drive { !setup.client.outcomes.isEmpty || setup.client.down != nil }
        #expect(setup.client.down == nil, "\(String(describing: setup.client.down))")
        #expect(setup.client.outcomes.first?.body.utf8.count == 100)
    }

    @Test("GOAWAYs with long texts become a few events")
    func goaways() throws {
        let setup = try WireTests.Setup(Limits(loop: .epoll, connections: 2, streams: 16, requestTimeoutMs: 120_000))
        setup.submit([Request(ticket: 1)])
        setup.drive { setup.peer.frames(Frame.headers).count == 1 }
        send([.goaway(1, 0, String(repeating: "x", count: 4000))], to: setup, times: 2000)
        setup.peer.send([.ok(1)])
        setup.drive { setup.client.down != nil }
        #expect(setup.client.outcomes.first?.status == 200)
        let told = setup.client.events(APNS_TRANSPORT_EVENT_GOAWAY)
        #expect(!told.isEmpty && told.allSatisfy { $0.detail.utf8.count == 256 })
    }

    @Test("Unread PONGs leave room for a changed limit and for the reason of GOAWAY")
    func pongs() throws {
        let setup = try WireTests.Setup(Limits(loop: .epoll, connections: 2, streams: 16, requestTimeoutMs: 120_000))
        setup.submit([Request(ticket: 1)])
        setup.drive { setup.peer.frames(Frame.headers).count == 1 }
        let pong = Frame(type: Frame.ping, flags: 1, payload: [UInt8](repeating: 7, count: 8))
        for frame in Array(repeating: pong, count: 40) + [.settings([3: 7]), .goaway(1, 0, "why")] {
            let before = setup.client.statistics.bytes_received
            setup.peer.send([frame])
            // The bytes are read, but no event is taken.
            while setup.client.statistics.bytes_received == before {
                setup.peer.step()
                setup.client.poll(capacity: 0)
            }
        }
        setup.drive { !setup.client.events(APNS_TRANSPORT_EVENT_GOAWAY).isEmpty }
        #expect(setup.client.events(APNS_TRANSPORT_EVENT_SETTINGS).map(\.streamsMax) == [7])
        #expect(setup.client.events(APNS_TRANSPORT_EVENT_GOAWAY).map(\.detail) == ["why"])
        #expect(setup.client.ping.count == 1)
    }

    @Test("Frames that a client forbids end the connection")
    func forbidden() throws {
        let push = Frame(type: 5, flags: 4, stream: 1, payload: bigEndian(2) + [0x82, 0x84, 0x86])
        let windows = Array(repeating: Frame(type: 8, payload: bigEndian(0x7fff_ffff)), count: 2)
        for (name, frames) in [
            ("a push", [push]), ("a window without end", windows), ("a reset of no stream", [.reset(99, 8)]),
        ] {
            let setup = try WireTests.Setup(Limits(loop: .epoll))
            setup.submit([Request(ticket: 1)])
            setup.drive { setup.peer.frames(Frame.headers).count == 1 }
            setup.peer.send(frames)
            setup.drive { setup.client.down != nil }
            #expect(setup.client.down?.scope == APNS_TRANSPORT_SCOPE_SESSION.rawValue, "\(name)")
            #expect(setup.client.outcomes.count == 1, "\(name)")
        }
    }

    @Test("An overlong captured value is skipped, and its neighbours are kept")
    func captures() throws {
        let setup = try WireTests.Setup(Limits(loop: .epoll, captures: ["long", "short"]))
        setup.submit([Request(ticket: 1)])
        setup.drive { setup.peer.frames(Frame.headers).count == 1 }
        // A length of 1,025 is an integer with a prefix of 7 bits: 127 + 898.
        let long = [0x00, 4] + Array("long".utf8) + [0x7f, 0x82, 0x07] + [UInt8](repeating: 0x61, count: 1025)
        let short = [0x00, 5] + Array("short".utf8) + [1, 0x62]
        setup.peer.send([Frame(type: Frame.headers, flags: 5, stream: 1, payload: [0x88] + long + short)])
        setup.drive { !setup.client.outcomes.isEmpty }
        #expect(setup.client.outcomes.first?.fields == [Field(name: "short", value: "b")])
    }

    /// Sends the frames a number of times, with turns of the client between them.
    private func send(_ frames: [Frame], to setup: WireTests.Setup, times: Int = repeated) {
        let bytes = frames.flatMap(\.bytes)
        let atOnce = max(1, 15_000 / bytes.count)
        for start in stride(from: 0, to: times, by: atOnce) {
            let count = min(atOnce, times - start)
            setup.peer.send(bytes: [UInt8](Array(repeating: bytes, count: count).joined()))
            setup.client.poll()
            setup.peer.step()
        }
    }
}
