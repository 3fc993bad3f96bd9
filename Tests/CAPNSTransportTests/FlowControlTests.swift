import CAPNSTransport
import Testing

/// The peer's flow control of request bodies (RFC 9113, sections 5.2 and 6.9).
@Suite("Flow control of requests")
struct FlowControlTests {
    private static let initialWindow: UInt16 = 4
    private static let largest: UInt32 = 0x7fff_ffff
    private static let noError: UInt32 = 0
    private static let flowControlError: UInt32 = 3

    private static func update(_ stream: UInt32, _ increment: UInt32) -> Frame {
        Frame(type: 8, stream: stream, payload: bigEndian(increment))
    }

    private func body(_ setup: WireTests.Setup, _ stream: UInt32) -> String {
        String(decoding: data(setup, stream).flatMap(\.payload), as: UTF8.self)
    }

    private func data(_ setup: WireTests.Setup, _ stream: UInt32) -> [Frame] {
        setup.peer.frames(Frame.data).filter { $0.stream == stream }
    }

    @Test("A body leaves as its stream's window opens, and ends with its last byte", arguments: Loop.available)
    func streamWindow(loop: Loop) throws {
        let setup = try WireTests.Setup(Limits(loop: loop), settings: [3: 100, Self.initialWindow: 4])
        let waits = { apns_transport_connection_waits_for_window(setup.client.handle, setup.connection) }
        #expect(waits() == 0)
        setup.submit([Request(ticket: 1, body: "0123456789abcdef"), Request(ticket: 2, body: "fits")])
        setup.drive { setup.peer.frames(Frame.data).count == 2 }
        #expect(waits() == 1)
        #expect(body(setup, 1) == "0123" && body(setup, 3) == "fits")
        #expect(data(setup, 1).map(\.flags) == [0] && data(setup, 3).map(\.flags) == [Frame.endStream])
        setup.peer.send([Self.update(1, 3)])
        setup.drive { body(setup, 1) == "0123456" }
        // One more byte for each stream, of those that are open, too.
        setup.peer.send([.settings([Self.initialWindow: 5])])
        setup.drive { body(setup, 1) == "01234567" }
        // The window is below zero now, which an update has to make up for.
        setup.peer.send([.settings([Self.initialWindow: 0]), Self.update(1, 5)])
        setup.peer.send([Self.update(1, 100)])
        setup.drive { body(setup, 1) == "0123456789abcdef" }
        #expect(data(setup, 1).last?.flags == Frame.endStream && waits() == 0)
        setup.peer.send([.ok(1), .ok(3)])
        setup.drive { setup.client.outcomes.count == 2 }
        #expect(setup.client.outcomes.map(\.status) == [200, 200] && setup.client.down == nil)
    }

    @Test("Bodies share the connection's window, in order", arguments: Loop.available)
    func connectionWindow(loop: Loop) throws {
        let setup = try WireTests.Setup(Limits(loop: loop, sendBuffer: 1 << 20))
        let long = String(repeating: "x", count: 20_000)
        setup.submit((0..<6).map { Request(ticket: $0, body: long) })
        setup.drive { setup.peer.frames(Frame.headers).count == 6 }
        let sizes = { (0..<6).map { data(setup, UInt32(2 * $0 + 1)).map(\.payload.count).reduce(0, +) } }
        setup.drive { sizes().reduce(0, +) == 65_535 }
        #expect(sizes() == [20_000, 20_000, 20_000, 5_535, 0, 0])
        #expect(setup.peer.frames(Frame.data).allSatisfy { $0.payload.count <= 16_384 })
        // A later request does not overtake those that wait.
        setup.submit([Request(ticket: 6, body: "late")])
        setup.drive { setup.peer.frames(Frame.headers).count == 7 }
        setup.peer.send([Self.update(0, 14_465 + 10)])
        setup.drive { sizes() == [20_000, 20_000, 20_000, 20_000, 10, 0] }
        setup.peer.send([Self.update(0, 40_000)])
        setup.drive { sizes().allSatisfy { $0 == 20_000 } && body(setup, 13) == "late" }
        #expect(setup.peer.frames(Frame.data).filter { $0.flags == Frame.endStream }.count == 7)
        setup.peer.send((0..<7).map { .ok(UInt32(2 * $0 + 1)) })
        setup.drive { setup.client.outcomes.count == 7 }
    }

    @Test("A full send buffer interrupts bodies, and nothing of them is lost", arguments: Loop.available)
    func fullBuffer(loop: Loop) throws {
        let setup = try WireTests.Setup(
            Limits(loop: loop, sendBuffer: 1), settings: [3: 1000, Self.initialWindow: 1 << 20])
        setup.peer.send([Self.update(0, 1 << 30)])
        let bodies = (0..<40).map { number in String(repeating: "\(number) ", count: 9_000) }
        setup.submit(bodies.enumerated().map { Request(ticket: UInt64($0), body: $1) })
        setup.drive { setup.peer.frames(Frame.data).filter { $0.flags == Frame.endStream }.count == 40 }
        for (number, expected) in bodies.enumerated() { #expect(body(setup, UInt32(2 * number + 1)) == expected) }
    }

    @Test("A window may be raised to its limit by what has been sent, again and again", arguments: Loop.available)
    func largestWindow(loop: Loop) throws {
        let setup = try WireTests.Setup(Limits(loop: loop), settings: [3: 100, Self.initialWindow: Self.largest])
        setup.peer.send([Self.update(0, Self.largest - 65_535)])
        for number in 0..<50 {
            let stream = UInt32(2 * number + 1)
            setup.submit([Request(ticket: UInt64(number), body: String(repeating: "b", count: 4000))])
            setup.drive { data(setup, stream).last?.flags == Frame.endStream }
            setup.peer.send([Self.update(0, 4000), Self.update(stream, 4000), .ok(stream), Self.update(stream, 1)])
            setup.drive { setup.client.outcomes.count == number + 1 || setup.client.down != nil }
        }
        #expect(setup.client.down == nil && setup.client.outcomes.allSatisfy { $0.status == 200 })
        #expect(setup.peer.frames(Frame.reset).isEmpty && setup.peer.frames(Frame.goaway).isEmpty)
    }

    @Test("A stream's window beyond the limit resets the stream, and only that", arguments: [4, 0, 65_535])
    func streamExcess(initial: UInt32) throws {
        let setup = try WireTests.Setup(Limits(loop: .epoll), settings: [3: 100, Self.initialWindow: initial])
        setup.submit([Request(ticket: 1, body: "0123456789"), Request(ticket: 2)])
        setup.drive { setup.peer.frames(Frame.headers).count == 2 }
        let sent = min(initial, 10)
        setup.drive { body(setup, 1).utf8.count == sent }
        setup.peer.send([Self.update(1, Self.largest - initial + sent)])
        setup.drive { body(setup, 1) == "0123456789" }
        // What has been sent since may be added again, and no more.
        setup.peer.send([Self.update(1, 10 - sent), Self.update(1, 1)].filter { $0.payload != bigEndian(0) })
        setup.drive { setup.client.outcomes.count == 1 || setup.client.down != nil }
        setup.drive { !setup.peer.frames(Frame.reset).isEmpty }
        #expect(setup.peer.frames(Frame.reset) == [.reset(1, Self.flowControlError)])
        #expect(setup.client.outcomes.first?.delivery == APNS_TRANSPORT_MAY_HAVE_ARRIVED.rawValue)
        setup.peer.send([.ok(3)])
        setup.drive { setup.client.outcomes.count == 2 }
        #expect(setup.client.outcomes.last?.status == 200 && setup.client.down == nil)
    }

    private static let violations: [(name: String, frame: Frame)] = [
        ("the connection's window beyond the limit", update(0, largest - 65_535 + 1)),
        ("an increment of zero", update(0, 0)),
        ("an increment of zero for a stream", update(1, 0)),
        ("a window of a stream that does not exist", update(99, 1)),
        ("a window of a pushed stream", update(2, 1)),
        ("a payload of five bytes", Frame(type: 8, payload: [0, 0, 0, 1, 0])),
        ("a payload of no bytes", Frame(type: 8, stream: 1)),
    ]

    @Test("A WINDOW_UPDATE against the rules ends the connection", arguments: violations.indices, [1, 4000])
    func endings(index: Int, piece: Int) throws {
        let (name, frame) = Self.violations[index]
        let setup = try WireTests.Setup(Limits(loop: .epoll))
        setup.submit([Request(ticket: 1)])
        setup.drive { setup.peer.frames(Frame.headers).count == 1 }
        var bytes = frame.bytes
        while !bytes.isEmpty {
            setup.peer.send(bytes: Array(bytes.prefix(piece)))
            bytes.removeFirst(min(piece, bytes.count))
            setup.client.poll()
        }
        setup.drive { setup.client.down != nil }
        #expect(setup.client.down?.scope == APNS_TRANSPORT_SCOPE_SESSION.rawValue, "\(name)")
        setup.drive { !setup.peer.frames(Frame.goaway).isEmpty }
        #expect(setup.client.outcomes.map(\.delivery) == [APNS_TRANSPORT_MAY_HAVE_ARRIVED.rawValue], "\(name)")
    }

    private static let ends: [(name: String, frames: [Frame], answered: Bool)] = [
        ("a reset", [.reset(1, 7)], false),
        ("a reset and a window", [.reset(1, 7), update(1, 100)], false),
        ("a GOAWAY", [.goaway(0, 0, "")], false),
        ("an answer", [.ok(1)], true),
        ("an answer and a window", [.ok(1), update(1, 100)], true),
    ]

    @Test("A body that waits is given up when its stream ends", arguments: ends.indices)
    func endsWhileWaiting(index: Int) throws {
        let end = Self.ends[index]
        let setup = try WireTests.Setup(Limits(loop: .epoll), settings: [3: 100, Self.initialWindow: 0])
        setup.submit((1...3).map { Request(ticket: $0, body: "waits") })
        setup.drive { setup.peer.frames(Frame.headers).count == 3 }
        setup.peer.send(end.frames)
        setup.drive { setup.client.outcomes.contains { $0.ticket == 1 } }
        #expect((setup.client.outcomes.first { $0.ticket == 1 }?.status == 200) == end.answered, "\(end.name)")
        if end.answered {
            setup.drive { !setup.peer.frames(Frame.reset).isEmpty }
            #expect(setup.peer.frames(Frame.reset) == [.reset(1, Self.noError)], "\(end.name)")
        }
        #expect(data(setup, 1).isEmpty, "\(end.name)")
        guard end.frames.allSatisfy({ $0.type != Frame.goaway }) else { return }
        setup.peer.send([Self.update(3, 5), Self.update(5, 5)])
        setup.drive { body(setup, 3) == "waits" && body(setup, 5) == "waits" }
        setup.peer.send([.ok(3), .ok(5)])
        setup.drive { setup.client.outcomes.count == 3 }
        #expect(setup.client.down == nil, "\(end.name)")
    }

    @Test("A body that waits when its time is over is not sent later")
    func timeout() throws {
        let setup = try WireTests.Setup(
            Limits(loop: .epoll, requestTimeoutMs: 200), settings: [3: 100, Self.initialWindow: 0])
        setup.submit([Request(ticket: 1, body: "waits")])
        setup.drive { setup.client.outcomes.count == 1 }
        setup.peer.send([Self.update(1, 100)])
        setup.submit([Request(ticket: 2)])
        setup.drive { setup.peer.frames(Frame.headers).count == 2 }
        #expect(data(setup, 1).isEmpty && setup.peer.frames(Frame.reset).map(\.stream) == [1])
    }
}
