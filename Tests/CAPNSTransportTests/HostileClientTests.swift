import CAPNSTransport
import CAPNSTransportServer
import Testing

/// Tests of attacks by a client on the server side.
@Suite("Hostile clients")
struct HostileClientTests {
    /// `:method: GET`, `:scheme: https`, `:path: /`, `:authority: a`.
    private static let request: [UInt8] = [0x82, 0x87, 0x84, 0x41, 1, 0x61]

    private static func open(_ stream: UInt32, end: Bool = true) -> Frame {
        Frame(type: Frame.headers, flags: 4 | (end ? 1 : 0), stream: stream, payload: request)
    }

    private let server: Side
    private let client: RawClient
    private let port: UInt16

    init() throws {
        server = try Side(Limits(loop: .epoll, connections: 4, streams: 64))
        port = try server.listen(streamsMax: 10)
        client = try RawClient(port: port)
        drive { !server.events(APNS_TRANSPORT_EVENT_ACCEPTED).isEmpty }
    }

    private func drive(_ other: RawClient? = nil, until done: () -> Bool) {
        CAPNSTransportTests.drive([server], and: (other ?? client).step, until: done)
    }

    @Test("Streams past the limit are refused, and the others are answered")
    func tooManyStreams() {
        client.send([Frame(type: Frame.settings, flags: 1)])
        client.send((0..<20).map { Self.open(UInt32(2 * $0 + 1), end: false) })
        client.send([Frame(type: Frame.data, flags: 1, stream: 1)])
        drive { client.isOver || !server.received.isEmpty }
        // The library ends the connection or refuses the streams. In both cases at most ten streams are open.
        #expect(server.received.count <= 10)
    }

    /// The state of the request was released before they arrive.
    @Test("A request passed on before its end may have a body and trailer fields", arguments: ["", "a body"])
    func trailersAfterEarlyRequest(body: String) throws {
        let accepted = try #require(server.events(APNS_TRANSPORT_EVENT_ACCEPTED).first)
        #expect(apns_transport_fault_early(server.handle, accepted.connection, true) == 0)
        client.send([Frame(type: Frame.settings, flags: 1), Self.open(1, end: false)])
        drive { server.received.count == 1 }
        let data = Frame(type: Frame.data, stream: 1, payload: Array(body.utf8))
        let trailers = Frame(type: Frame.headers, flags: 5, stream: 1, payload: [0x00, 1, 0x78, 1, 0x79])
        client.send((body.isEmpty ? [] : [data]) + [trailers, Self.open(3)])
        drive { server.received.count == 2 || server.down != nil }
        #expect(server.down == nil)
        #expect(server.received.map(\.stream) == [1, 3])
    }

    /// Sending GOAWAY closes the streams above its last stream id. Here this happens while the connection ends.
    @Test("Requests whose connection ends during GOAWAY release their places")
    func placesAfterGoaway() throws {
        for round in 0..<40 {
            let client = try RawClient(port: port)
            drive(client) { server.events(APNS_TRANSPORT_EVENT_ACCEPTED).count == round + 2 }
            let accepted = try #require(server.events(APNS_TRANSPORT_EVENT_ACCEPTED).last)
            client.send([Frame(type: Frame.settings, flags: 1)] + [1, 3, 5].map { Self.open($0) })
            drive(client) { server.received.count == 3 * (round + 1) }
            #expect(apns_transport_fault_goaway(server.handle, accepted.connection, 1, 0, nil, 0) == 0)
            #expect(
                apns_transport_fault_abort(server.handle, accepted.connection, APNS_TRANSPORT_ABORT_NOTIFY.rawValue)
                    == 0)
            drive(client) { server.events(APNS_TRANSPORT_EVENT_DOWN).count == round + 1 }
        }
        #expect(apns_transport_streams_free(server.handle) == 64)
    }

    @Test(
        "A connection that exceeds a limit is ended",
        arguments: ["rapid resets", "pings", "settings", "continuations", "a large header list", "many fields"])
    func limits(name: String) {
        client.send([Frame(type: Frame.settings, flags: 1)])
        var stream: UInt32 = 1
        for _ in 0..<2000 where !client.isOver && server.down == nil {
            client.send(Self.frames(name, &stream))
            server.poll()
            if name == "rapid resets" { client.step() }
        }
        drive { server.down != nil }
        let scopes = [APNS_TRANSPORT_SCOPE_LOCAL.rawValue, APNS_TRANSPORT_SCOPE_SESSION.rawValue]
        #expect(server.down.map { scopes.contains($0.scope) } == true, "\(String(describing: server.down))")
    }

    private static func frames(_ name: String, _ stream: inout UInt32) -> [Frame] {
        switch name {
        case "rapid resets":
            return (0..<50).flatMap { _ in
                defer { stream += 2 }
                return [open(stream), .reset(stream, 8)]
            }
        case "pings":
            return Array(repeating: Frame(type: Frame.ping, payload: [UInt8](repeating: 1, count: 8)), count: 500)
        case "settings": return Array(repeating: .settings([3: 7]), count: 500)
        case "continuations":
            return [Frame(type: Frame.headers, stream: 1, payload: request)]
                + Array(repeating: Frame(type: Frame.continuation, stream: 1), count: 50)
        case "a large header list":
            let field: [UInt8] = [0, 1, 0x61, 0x7f] + [0x81, 0x7c] + [UInt8](repeating: 0x62, count: 16_000)
            return [Frame(type: Frame.headers, stream: 1, payload: request + [0x00, 1, 0x63, 1, 0x64])]
                + (0..<3).map { Frame(type: Frame.continuation, flags: $0 == 2 ? 4 : 0, stream: 1, payload: field) }
        default:
            let fields = (0..<200).flatMap { _ in [0x00, 1, 0x61, 1, 0x62] as [UInt8] }
            return [Frame(type: Frame.headers, flags: 5, stream: 1, payload: request + fields)]
        }
    }
}
