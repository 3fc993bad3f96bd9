import CAPNSTransport
import Testing

@Suite("Bytes on the wire")
struct WireTests {
    struct Setup {
        let client: Side
        let peer: RawPeer
        let connection: UInt64

        /// Creates a connection that is up.
        ///
        /// - Parameters:
        ///   - settings: The settings of the peer, unless `firstSettings` is its frame.
        ///   - behindSettings: Frames that the peer sends in the same record as its first settings.
        init(
            _ limits: Limits, settings: [UInt16: UInt32] = [3: 100], firstSettings: Frame? = nil,
            behindSettings: [Frame] = []
        ) throws {
            client = try Side(limits)
            peer = try RawPeer(greeting: [firstSettings ?? .settings(settings)] + behindSettings)
            client.define(0, [Field(name: "apns-topic", value: "com.example.app")])
            connection = try client.connect(peer.port)
            let client = client
            drive { client.isUp }
        }

        func drive(until done: () -> Bool) {
            CAPNSTransportTests.drive([client], and: peer.step, until: done)
        }

        func submit(_ requests: [Request]) {
            client.submit(requests, on: connection)
        }
    }

    @Test("Fields are indexed as requested and decode to what was submitted", arguments: Loop.available)
    func indexing(loop: Loop) throws {
        let setup = try Setup(Limits(loop: loop))
        let token = "bearer " + String(repeating: "aB3-_.", count: 40)
        setup.client.share(
            [Field(name: "authorization", value: token, indexing: APNS_TRANSPORT_LITERAL)], on: setup.connection)
        let requests = (0..<50).map { number in
            Request(
                ticket: UInt64(number), path: "/3/device/\(number)",
                fields: [
                    Field(name: "apns-id", value: "id \(number) \u{e9}", indexing: APNS_TRANSPORT_NAME_ONCE),
                    Field(
                        name: "apns-collapse-id", value: number % 2 == 0 ? "" : "c", indexing: APNS_TRANSPORT_NAME_ONCE),
                ])
        }
        setup.submit(requests)
        setup.drive { setup.peer.frames(Frame.headers).count == 50 }
        let inflater = Inflater()
        for (number, frame) in setup.peer.frames(Frame.headers).enumerated() {
            let fields = try #require(inflater.decode(frame.payload))
            #expect(
                fields.map { Field(name: $0.name, value: $0.value) } == [
                    Field(name: ":path", value: "/3/device/\(number)"), Field(name: ":method", value: "POST"),
                    Field(name: ":scheme", value: "https"), Field(name: ":authority", value: "localhost"),
                    Field(name: "apns-topic", value: "com.example.app"), Field(name: "authorization", value: token),
                    Field(name: "apns-id", value: "id \(number) \u{e9}"),
                    Field(name: "apns-collapse-id", value: number % 2 == 0 ? "" : "c"),
                ])
            #expect(fields.filter(\.neverIndexed).map(\.name) == ["authorization"])
            #expect(frame.flags == Frame.endHeaders | Frame.endStream)
        }
        #expect(inflater.table == ["apns-collapse-id", "apns-id", "apns-topic", ":authority"])
        #expect(setup.peer.frames(Frame.priority).isEmpty)
    }

    @Test("Changing header sets and more fields than the table holds still decode", arguments: Loop.available)
    func eviction(loop: Loop) throws {
        let setup = try Setup(Limits(loop: loop))
        let inflater = Inflater()
        var expected: [[Field]] = []
        for round in 0..<60 {
            let long = String(repeating: "v", count: 40 + round * 7)
            setup.client.define(
                UInt16(round % 3),
                [Field(name: "x-\(round % 7)", value: long), Field(name: "y", value: "\(round % 2)")])
            let fields = [
                Field(
                    name: "z-\(round % 4)",
                    value: round % 10 == 9 ? String(repeating: "w", count: 5000) : "\(round % 5)"),
                Field(name: "apns-id", value: "id \(round)", indexing: APNS_TRANSPORT_NAME_ONCE),
            ]
            setup.submit([
                Request(ticket: UInt64(round), path: "/\(round)", fields: fields, headerSet: UInt16(round % 3))
            ])
            expected.append(
                [
                    Field(name: ":path", value: "/\(round)"), Field(name: ":method", value: "POST"),
                    Field(name: ":scheme", value: "https"), Field(name: ":authority", value: "localhost"),
                    Field(name: "x-\(round % 7)", value: long), Field(name: "y", value: "\(round % 2)"),
                ] + fields.map { Field(name: $0.name, value: $0.value) })
        }
        setup.drive { setup.peer.frames(Frame.headers).count == 60 }
        for (frame, fields) in zip(setup.peer.frames(Frame.headers), expected) {
            #expect(inflater.decode(frame.payload)?.map { Field(name: $0.name, value: $0.value) } == fields)
        }
    }

    @Test("Replaced fields of a connection are sent with the next request", arguments: Loop.available)
    func replacedFields(loop: Loop) throws {
        let setup = try Setup(Limits(loop: loop))
        for (number, token) in ["first", "first", "second", "second"].enumerated() {
            setup.client.share(
                [Field(name: "authorization", value: token, indexing: APNS_TRANSPORT_LITERAL)], on: setup.connection)
            setup.submit([Request(ticket: UInt64(number))])
        }
        setup.drive { setup.peer.frames(Frame.headers).count == 4 }
        let inflater = Inflater()
        let tokens = setup.peer.frames(Frame.headers).map { inflater.decode($0.payload)?.last?.value }
        #expect(tokens == ["first", "first", "second", "second"])
    }

    @Test("A full send buffer goes to the loop while requests are submitted", arguments: Loop.available)
    func fullBuffer(loop: Loop) throws {
        let setup = try Setup(Limits(loop: loop, sendBuffer: 65_536), settings: [3: 1000])
        // After the answer, no other bytes are waiting to be sent.
        setup.submit([Request(ticket: 0)])
        setup.drive { setup.peer.frames(Frame.headers).count == 1 }
        setup.peer.send([.ok(1)])
        setup.drive { setup.client.outcomes.count == 1 }
        let sends = setup.client.statistics.sends
        let paths = (1...150).map { "/\($0)" + String(repeating: "p", count: 1000) }
        setup.submit(paths.enumerated().map { Request(ticket: UInt64($0 + 1), path: $1) })
        #expect(setup.client.statistics.sends == sends + 1)
        setup.drive { setup.peer.frames(Frame.headers).count == 151 }
        let inflater = Inflater()
        let received = setup.peer.frames(Frame.headers).map { inflater.decode($0.payload)?.first?.value }
        #expect(received == ["/"] + paths)
    }

    @Test("A request that waits for space when its connection is closed is never sent", arguments: Loop.available)
    func closeWhileWaiting(loop: Loop) throws {
        let body = String(repeating: "b", count: 300)
        for polls in 0..<4 {
            let setup = try Setup(Limits(loop: loop, sendBuffer: 1), settings: [3: 1000])
            setup.submit((0..<200).map { Request(ticket: $0, path: "/\($0)", body: body) })
            for _ in 0..<polls { setup.client.poll() }
            // This passes the full buffer to the loop if the loop is free, and so makes space.
            setup.submit([Request(ticket: 200, path: "/200", body: body)])
            apns_transport_connection_close(setup.client.handle, setup.connection, APNS_TRANSPORT_CLOSE_NOW.rawValue)
            setup.drive { setup.client.down != nil }
            for _ in 0..<100 { setup.peer.step() }
            let inflater = Inflater()
            let left = Set(setup.peer.frames(Frame.headers).compactMap { inflater.decode($0.payload)?.first?.value })
            #expect(setup.client.outcomes.count == 201)
            let unsent = setup.client.outcomes.filter { $0.delivery == APNS_TRANSPORT_NOT_SENT.rawValue }
            #expect(!unsent.isEmpty && unsent.allSatisfy { !left.contains("/\($0.ticket)") })
        }
    }

    @Test("A peer that allows no table or a small one gets none", arguments: Loop.available, [0, 100] as [UInt32])
    func tableSize(loop: Loop, size: UInt32) throws {
        let setup = try Setup(Limits(loop: loop), settings: [1: size, 3: 100])
        setup.submit((0..<5).map { Request(ticket: $0) })
        setup.drive { setup.peer.frames(Frame.headers).count == 5 }
        let inflater = Inflater()
        inflater.allow(Int(size))
        for frame in setup.peer.frames(Frame.headers) {
            #expect(
                inflater.decode(frame.payload)?.map(\.value) == ["/", "POST", "https", "localhost", "com.example.app"])
        }
        #expect(inflater.table.count <= Int(size) / 32)
    }

    @Test("A header block larger than a frame is continued", arguments: Loop.available)
    func continuation(loop: Loop) throws {
        let setup = try Setup(Limits(loop: loop))
        let long = String(repeating: "p", count: 40_000)
        setup.submit([Request(ticket: 1, path: "/" + long, body: "body")])
        setup.drive { !setup.peer.frames(Frame.data).isEmpty }
        let frames = setup.peer.frames.filter { $0.stream == 1 }
        #expect(frames.map(\.type) == [Frame.headers, Frame.continuation, Frame.continuation, Frame.data])
        #expect(frames.map(\.flags) == [0, 0, Frame.endHeaders, Frame.endStream])
        let fields = Inflater().decode(frames.dropLast().flatMap(\.payload))
        #expect(fields?.first?.value == "/" + long)
    }

    @Test("A complete answer counts although the body could not be sent", arguments: Loop.available, [false, true])
    func answerBeforeBody(loop: Loop, reset: Bool) throws {
        let setup = try Setup(Limits(loop: loop), settings: [3: 1, 4: 0])
        setup.submit([Request(ticket: 1, body: "held back by the window")])
        setup.drive { setup.peer.frames(Frame.headers).count == 1 }
        setup.peer.send(reset ? [.ok(1), .reset(1, 0)] : [.ok(1)])
        setup.drive { setup.client.outcomes.count == 1 && (reset || setup.peer.frames(Frame.reset).count == 1) }
        #expect(
            setup.client.outcomes[0].delivery == APNS_TRANSPORT_ANSWERED.rawValue
                && setup.client.outcomes[0].status == 200)
        #expect(setup.peer.frames(Frame.data).isEmpty)
        #expect(setup.peer.frames(Frame.reset) == (reset ? [] : [.reset(1, 0)]))
        setup.submit([Request(ticket: 2)])
        setup.drive { setup.peer.frames(Frame.headers).count == 2 }
        #expect(setup.client.outcomes.count == 1)
    }

    @Test("An answer without its end, followed by a reset, is maybe sent", arguments: Loop.available)
    func resetAfterHeaders(loop: Loop) throws {
        let setup = try Setup(Limits(loop: loop))
        setup.submit([Request(ticket: 1)])
        setup.drive { setup.peer.frames(Frame.headers).count == 1 }
        setup.peer.send([.ok(1, end: false), .reset(1, 0)])
        setup.drive { setup.client.outcomes.count == 1 }
        #expect(
            setup.client.outcomes[0].delivery == APNS_TRANSPORT_MAY_HAVE_ARRIVED.rawValue
                && setup.client.outcomes[0].status == 200
        )
        #expect(
            setup.client.outcomes[0].scope == APNS_TRANSPORT_SCOPE_HTTP2.rawValue && setup.client.outcomes[0].code == 0)
    }

    @Test(
        "Streams above the last one of GOAWAY are not sent, and two GOAWAYs are both reported",
        arguments: Loop.available)
    func goaway(loop: Loop) throws {
        let setup = try Setup(Limits(loop: loop))
        setup.submit((1...4).map { Request(ticket: $0, body: "b") })
        setup.drive { setup.peer.frames(Frame.data).count == 4 }
        setup.peer.send([.goaway(0x7fff_ffff, 0, ""), .goaway(3, 0, "Maximum active streams violated"), .ok(1)])
        setup.drive { setup.client.outcomes.count == 3 }
        #expect(setup.client.events(APNS_TRANSPORT_EVENT_GOAWAY).map(\.lastStream) == [0x7fff_ffff, 3])
        #expect(
            setup.client.events(APNS_TRANSPORT_EVENT_GOAWAY).map(\.detail) == ["", "Maximum active streams violated"])
        let outcomes = setup.client.outcomes.sorted { $0.ticket < $1.ticket }
        #expect(outcomes.map(\.ticket) == [1, 3, 4])
        #expect(outcomes.map(\.delivery) == [2, 0, 0])
        // This is not a refusal, after which a delay would be required: the connection caused it.
        #expect(outcomes.dropFirst().allSatisfy { $0.scope == APNS_TRANSPORT_SCOPE_LOCAL.rawValue })
        #expect(outcomes.dropFirst().allSatisfy { $0.code == Int64(APNS_TRANSPORT_LOCAL_GOAWAY.rawValue) })
        #expect(setup.client.down == nil)
        setup.peer.close()
        setup.drive { setup.client.down != nil }
        #expect(setup.client.outcomes.last?.ticket == 2)
        #expect(setup.client.outcomes.last?.delivery == APNS_TRANSPORT_MAY_HAVE_ARRIVED.rawValue)
    }

    @Test(
        "A second GOAWAY shortly after the last answer is reported, in whatever pieces",
        arguments: Loop.available)
    func secondGoaway(loop: Loop) throws {
        let setup = try Setup(Limits(loop: loop))
        setup.submit([Request(ticket: 1)])
        setup.drive { setup.peer.frames(Frame.headers).count == 1 }
        setup.peer.send([.ok(1), .goaway(1, 0, "")])
        setup.drive { !setup.client.events(APNS_TRANSPORT_EVENT_GOAWAY).isEmpty }
        #expect(setup.client.outcomes.map(\.delivery) == [2])
        let late = [Frame(type: Frame.settings, flags: 1), .goaway(1, 0, "{\"reason\":\"BadCertificate\"}")]
        for byte in late.flatMap(\.bytes) { setup.peer.send(bytes: [byte]) }
        setup.drive { setup.client.down != nil }
        #expect(
            setup.client.events(APNS_TRANSPORT_EVENT_GOAWAY).map(\.detail) == ["", "{\"reason\":\"BadCertificate\"}"])
        #expect(setup.client.down?.scope == APNS_TRANSPORT_SCOPE_HTTP2.rawValue)
    }

    @Test("After GOAWAY invalid bytes are ignored, and a long debug text is cut", arguments: Loop.available)
    func afterGoaway(loop: Loop) throws {
        let setup = try Setup(Limits(loop: loop))
        setup.peer.send([.goaway(0, 0, "")])
        setup.drive { !setup.client.events(APNS_TRANSPORT_EVENT_GOAWAY).isEmpty }
        let long = String(repeating: "x", count: 5000)
        setup.peer.send([.goaway(0, 2, long)])
        setup.peer.send(bytes: Array(repeating: 0xff, count: 9))
        setup.peer.send([.goaway(0, 0, "never seen")])
        setup.drive { setup.client.down != nil }
        #expect(
            setup.client.events(APNS_TRANSPORT_EVENT_GOAWAY).map(\.detail) == ["", String(long.prefix(256))])
    }

    @Test("An end without close_notify is distinguished from an orderly one", arguments: Loop.available, [false, true])
    func truncation(loop: Loop, inOrder: Bool) throws {
        let setup = try Setup(Limits(loop: loop))
        setup.submit([Request(ticket: 1)])
        setup.drive { setup.peer.frames(Frame.headers).count == 1 }
        if inOrder { setup.peer.closeInOrder() } else { setup.peer.close() }
        setup.drive { setup.client.down != nil }
        #expect(setup.client.outcomes.map(\.delivery) == [APNS_TRANSPORT_MAY_HAVE_ARRIVED.rawValue])
        let scope = inOrder ? APNS_TRANSPORT_SCOPE_END : APNS_TRANSPORT_SCOPE_SYSTEM
        #expect(setup.client.down?.scope == scope.rawValue)
        #expect(
            setup.client.down?.detail
                == (inOrder ? "closed by the peer" : "the connection was closed without TLS's close_notify"))
    }

    @Test("Requests that never reached the loop are not sent, and the rest are maybe sent", arguments: Loop.available)
    func stuckPeer(loop: Loop) throws {
        let setup = try Setup(Limits(loop: loop, sendBuffer: 16_384), settings: [3: 4000])
        setup.peer.reads = false
        setup.submit((0..<4000).map { Request(ticket: $0, path: "/" + String(repeating: "p", count: 5000)) })
        for _ in 0..<20 { setup.client.poll() }
        #expect(setup.client.outcomes.isEmpty)
        apns_transport_connection_close(setup.client.handle, setup.connection, APNS_TRANSPORT_CLOSE_NOW.rawValue)
        setup.drive { setup.client.down != nil }
        #expect(Set(setup.client.outcomes.map(\.ticket)).count == 4000)
        let sent = setup.client.outcomes.filter { $0.delivery == APNS_TRANSPORT_MAY_HAVE_ARRIVED.rawValue }
        #expect(!sent.isEmpty && sent.count < 4000)
        #expect(Set(sent.map(\.ticket)) == Set(0..<UInt64(sent.count)))
        setup.peer.reads = true
        for _ in 0..<10_000 { setup.peer.step() }
        #expect(setup.peer.frames(Frame.headers).count <= sent.count)
    }

    @Test("A peer that exceeds a limit or sends invalid data loses its connection", arguments: Loop.available)
    func limits(loop: Loop) throws {
        let cases: [(String, [Frame], UInt32)] = [
            ("too large a header list", hugeHeaders(), APNS_TRANSPORT_SCOPE_LOCAL.rawValue),
            (
                "a flood of pings",
                Array(repeating: Frame(type: Frame.ping, payload: [UInt8](repeating: 1, count: 8)), count: 3000),
                APNS_TRANSPORT_SCOPE_LOCAL.rawValue
            ),
            (
                "a flood of settings", Array(repeating: Frame.settings([3: 7]), count: 3000),
                APNS_TRANSPORT_SCOPE_LOCAL.rawValue
            ),
            ("continuations without end", endlessHeaders(), APNS_TRANSPORT_SCOPE_LOCAL.rawValue),
            (
                "a frame on a stream never begun", [Frame(type: Frame.data, stream: 99, payload: [1])],
                APNS_TRANSPORT_SCOPE_SESSION.rawValue
            ),
            (
                "a block that does not decode",
                [Frame(type: Frame.headers, flags: 5, stream: 1, payload: [0xff, 0xff, 0xff])],
                APNS_TRANSPORT_SCOPE_SESSION.rawValue
            ),
            (
                "a frame that is too large",
                [Frame(type: Frame.data, stream: 1, payload: [UInt8](repeating: 0, count: 20_000))],
                APNS_TRANSPORT_SCOPE_SESSION.rawValue
            ),
        ]
        for (name, frames, scope) in cases {
            let setup = try Setup(Limits(loop: loop))
            setup.submit([Request(ticket: 1)])
            setup.drive { setup.peer.frames(Frame.headers).count == 1 }
            setup.peer.send(frames)
            setup.drive { setup.client.down != nil }
            #expect(setup.client.down?.scope == scope, "\(name): \(String(describing: setup.client.down))")
            if scope == APNS_TRANSPORT_SCOPE_LOCAL.rawValue {
                #expect(setup.client.down?.code == Int64(APNS_TRANSPORT_LOCAL_LIMIT.rawValue), "\(name)")
            }
            #expect(setup.client.outcomes.count == 1, "\(name)")
        }
    }

    private func hugeHeaders() -> [Frame] {
        // The field is a literal whose value has 16,000 bytes. It occurs three times.
        let field: [UInt8] = [0, 1, 0x61, 0x7f] + [0x81, 0x7c] + [UInt8](repeating: 0x62, count: 16_000)
        return [
            Frame(type: Frame.headers, stream: 1, payload: [0x88] + field),
            Frame(type: Frame.continuation, stream: 1, payload: field),
            Frame(type: Frame.continuation, flags: Frame.endHeaders, stream: 1, payload: field),
        ]
    }

    private func endlessHeaders() -> [Frame] {
        [Frame(type: Frame.headers, stream: 1, payload: [0x88])]
            + Array(repeating: Frame(type: Frame.continuation, stream: 1), count: 50)
    }
}
