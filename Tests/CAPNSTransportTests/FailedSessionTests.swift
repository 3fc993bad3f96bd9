import CAPNSTransport
import Testing

/// A session that the peer has made fail takes nothing more, and says GOAWAY.
@Suite("Sessions that have failed")
struct FailedSessionTests {
    private static let shortPing = Frame(type: Frame.ping, payload: [UInt8](repeating: 1, count: 7))
    private static let initialWindow: UInt16 = 4

    private static func update(_ stream: UInt32, _ increment: UInt32) -> Frame {
        Frame(type: 8, stream: stream, payload: bigEndian(increment))
    }

    /// Checks that the requests of these tickets ended with their connection, without having been sent.
    private func expectUnsent(_ tickets: [UInt64], _ setup: WireTests.Setup) {
        setup.drive { setup.client.down != nil && setup.peer.hasClosed }
        let outcomes = setup.client.outcomes.filter { tickets.contains($0.ticket) }
        #expect(outcomes.map(\.ticket) == tickets)
        #expect(outcomes.allSatisfy { $0.delivery == APNS_TRANSPORT_NOT_SENT.rawValue && $0.status == 0 })
        #expect(setup.client.down?.scope == APNS_TRANSPORT_SCOPE_SESSION.rawValue)
    }

    @Test("A request behind an illegal frame is not sent, although no stream was open", arguments: Loop.available)
    func afterTheLastAnswer(loop: Loop) throws {
        let setup = try WireTests.Setup(Limits(loop: loop))
        setup.submit([Request(ticket: 1)])
        setup.drive { setup.peer.frames(Frame.headers).count == 1 }
        setup.peer.send([.ok(1), Self.shortPing])
        setup.drive { setup.client.outcomes.count == 1 }
        #expect(setup.client.outcomes.first?.status == 200)
        setup.submit([Request(ticket: 2, body: "b"), Request(ticket: 3)])
        expectUnsent([2, 3], setup)
        #expect(setup.peer.frames(Frame.headers).count == 1)
    }

    @Test("The same in the read that makes the connection usable", arguments: Loop.available)
    func withTheFirstSettings(loop: Loop) throws {
        let setup = try WireTests.Setup(Limits(loop: loop), behindSettings: [Self.shortPing])
        setup.submit([Request(ticket: 1, body: "b"), Request(ticket: 2)])
        expectUnsent([1, 2], setup)
        #expect(setup.peer.frames(Frame.headers).isEmpty)
    }

    /// A limit of ours, and a rule that nghttp2 does not look at.
    private static let own: [(name: String, frames: [Frame], code: UInt32)] = [
        ("the window of the connection", [update(0, 0x7fff_ffff)], 3),
        ("a header list of 64 KiB", largeBlock(), 11),
    ]

    private static func largeBlock() -> [Frame] {
        // A literal without indexing, whose name has one byte and whose value has 16,000.
        let field: [UInt8] = [0, 1, 0x78, 0x7f, 0x81, 0x7c] + [UInt8](repeating: 0x61, count: 16_000)
        let first = Frame(type: Frame.headers, stream: 1, payload: [0x88] + field)
        let next = Frame(type: Frame.continuation, stream: 1, payload: field)
        var last = next
        last.flags = Frame.endHeaders
        return [first, next, last]
    }

    @Test("What our own code refuses ends with GOAWAY, too", arguments: own.indices)
    func goaway(index: Int) throws {
        let (name, frames, code) = Self.own[index]
        let setup = try WireTests.Setup(Limits(loop: .epoll))
        setup.submit([Request(ticket: 1)])
        setup.drive { setup.peer.frames(Frame.headers).count == 1 }
        setup.peer.send(frames)
        setup.drive { setup.client.down != nil && setup.peer.hasClosed }
        #expect(setup.peer.frames(Frame.goaway) == [.goaway(0, code, "")], "\(name)")
        #expect(
            setup.client.down?.code == Int64(code) || setup.client.down?.scope == APNS_TRANSPORT_SCOPE_LOCAL.rawValue)
        #expect(setup.client.outcomes.map(\.delivery) == [APNS_TRANSPORT_MAY_HAVE_ARRIVED.rawValue])
    }

    @Test("Requests that wait for the send buffer do not leave with the GOAWAY")
    func deferred() throws {
        let setup = try WireTests.Setup(
            Limits(loop: .epoll, sendBuffer: 1), settings: [3: 1000, Self.initialWindow: 1 << 20])
        setup.peer.send([Self.update(0, 1 << 30)])
        setup.submit([Request(ticket: 0)])
        setup.drive { setup.peer.frames(Frame.headers).count == 1 }
        setup.peer.reads = false
        let body = String(repeating: "b", count: 100_000)
        setup.submit((1...200).map { Request(ticket: $0, body: body) })
        setup.client.poll()
        setup.peer.send([Self.shortPing])
        setup.drive { setup.client.down != nil }
        let unsent = setup.client.outcomes.filter { $0.delivery == APNS_TRANSPORT_NOT_SENT.rawValue }
        #expect(setup.client.outcomes.count == 201 && !unsent.isEmpty)
        setup.peer.reads = true
        setup.drive { setup.peer.hasClosed }
        // A request that left in part is not one that was not sent.
        #expect(setup.peer.frames(Frame.headers).count <= 201 - unsent.count)
    }
}
