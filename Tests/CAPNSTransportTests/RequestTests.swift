import CAPNSTransport
import CAPNSTransportServer
import Testing

@Suite("Requests and answers")
struct RequestTests {
    @Test("Every request gets its own answer, with body and captured fields", arguments: Loop.available)
    func answers(loop: Loop) throws {
        let pair = try Pair(Limits(loop: loop, captures: ["apns-id", "x-other"]))
        pair.client.share(
            [Field(name: "authorization", value: "bearer t", indexing: APNS_TRANSPORT_LITERAL)], on: pair.connection)
        pair.server.answer = { request in
            let id = request.value("apns-id") ?? "none"
            let path = request.value(":path") ?? ""
            return path.hasSuffix("7")
                ? Response(status: 410, fields: [Field(name: "apns-id", value: id)], body: "{\"reason\":\"\(path)\"}")
                : Response(status: 200, fields: [Field(name: "apns-id", value: id), Field(name: "date", value: "x")])
        }
        let count = 5000
        var next = 0
        pair.drive {
            while next < count && next - pair.client.outcomes.count < 100 {
                let fields = [Field(name: "apns-id", value: "id-\(next)", indexing: APNS_TRANSPORT_NAME_ONCE)]
                pair.client.submit(
                    [Request(ticket: UInt64(next), path: "/3/device/\(next)", body: "body \(next)", fields: fields)],
                    on: pair.connection)
                next += 1
            }
            return pair.client.outcomes.count == count
        }
        #expect(pair.client.outcomes.count == count)
        #expect(Set(pair.client.outcomes.map(\.ticket)).count == count)
        for outcome in pair.client.outcomes {
            let refused = outcome.ticket % 10 == 7
            #expect(outcome.delivery == APNS_TRANSPORT_ANSWERED.rawValue && outcome.scope == 0 && outcome.code == 0)
            #expect(outcome.status == (refused ? 410 : 200))
            #expect(outcome.fields == [Field(name: "apns-id", value: "id-\(outcome.ticket)")])
            #expect(outcome.body == (refused ? "{\"reason\":\"/3/device/\(outcome.ticket)\"}" : ""))
        }
        #expect(apns_transport_streams_free(pair.client.handle) == 4096)
        for request in pair.server.received {
            let number = request.value(":path")?.split(separator: "/").last ?? ""
            #expect(String(decoding: request.body, as: UTF8.self) == "body \(number)")
            #expect(request.bodyTotal == UInt32(request.body.count))
            #expect(request.value(":method") == "POST" && request.value(":authority") == "localhost")
            #expect(request.value("authorization") == "bearer t" && request.value("apns-id") == "id-\(number)")
            #expect(request.value("content-length") == String(request.body.count))
        }
        #expect(apns_transport_loop_kind(pair.client.handle) == loop.rawValue)
    }

    @Test("A send buffer of one byte slows requests down and loses none", arguments: Loop.available)
    func tinySendBuffer(loop: Loop) throws {
        let pair = try Pair(Limits(loop: loop, sendBuffer: 1), streamsMax: 1000)
        pair.server.answer = { Response(fields: [Field(name: "x-path", value: $0.value(":path") ?? "")]) }
        let requests = (0..<1000).map { Request(ticket: $0, path: "/\($0)", body: String(repeating: "b", count: 300)) }
        pair.client.submit(requests, on: pair.connection)
        pair.client.define(0, [Field(name: "replaced", value: "yes")])
        pair.drive { pair.client.outcomes.count == 1000 }
        #expect(pair.client.outcomes.filter { $0.status == 200 }.count == 1000)
        #expect(Set(pair.server.received.map { $0.value(":path") }).count == 1000)
        #expect(pair.server.received.allSatisfy { $0.value("replaced") == nil && $0.body.count == 300 })
    }

    @Test(
        "A large request body arrives, and a response body is kept up to the limit",
        arguments: Loop.available)
    func largeBodies(loop: Loop) throws {
        let pair = try Pair(Limits(loop: loop, bodyReceived: 1000))
        pair.server.answer = { _ in Response(body: String(repeating: "r", count: 3_000_000)) }
        pair.client.submit([Request(ticket: 1, body: String(repeating: "q", count: 2_000_000))], on: pair.connection)
        pair.drive { pair.client.outcomes.count == 1 }
        #expect(pair.server.received.map(\.bodyTotal) == [2_000_000])
        #expect(pair.server.received.map { $0.value("content-length") } == ["2000000"])
        #expect(pair.server.received.map(\.body.count) == [1000])
        #expect(pair.client.outcomes.map(\.body) == [String(repeating: "r", count: 1000)])
        #expect(pair.client.outcomes.map(\.delivery) == [APNS_TRANSPORT_ANSWERED.rawValue])
    }

    @Test("Outcomes and requests that do not fit the arrays wait for the next poll", arguments: Loop.available)
    func smallArrays(loop: Loop) throws {
        let pair = try Pair(Limits(loop: loop))
        pair.server.answer = { _ in Response() }
        pair.client.submit((0..<100).map { Request(ticket: $0) }, on: pair.connection)
        pair.drive {
            pair.client.poll(capacity: 3)
            pair.server.poll(capacity: 1)
            return pair.client.outcomes.count == 100
        }
        #expect(Set(pair.client.outcomes.map(\.ticket)).count == 100)
    }

    @Test("A request past the peer's limit ends as not sent at once", arguments: Loop.available)
    func limit(loop: Loop) throws {
        let pair = try Pair(Limits(loop: loop), streamsMax: 1)
        #expect(pair.client.events(APNS_TRANSPORT_EVENT_UP)[0].streamsMax == 1)
        pair.client.submit((0..<3).map { Request(ticket: $0) }, on: pair.connection)
        pair.drive { pair.client.outcomes.count == 2 && pair.server.received.count == 1 }
        for outcome in pair.client.outcomes {
            #expect(
                outcome.delivery == APNS_TRANSPORT_NOT_SENT.rawValue
                    && outcome.scope == APNS_TRANSPORT_SCOPE_LOCAL.rawValue)
            #expect(outcome.code == Int64(APNS_TRANSPORT_LOCAL_NO_STREAM.rawValue))
        }
        pair.server.respond(Response(), to: pair.server.received[0])
        pair.drive { pair.client.outcomes.count == 3 }
        #expect(pair.client.outcomes.last?.status == 200)
    }

    @Test("The peer's limit is followed up and down while requests are open", arguments: Loop.available)
    func limitChanges(loop: Loop) throws {
        let pair = try Pair(Limits(loop: loop), streamsMax: 1)
        #expect(apns_transport_connection_streams_set(pair.server.handle, pair.serverConnection, 1000) == 0)
        pair.drive { !pair.client.events(APNS_TRANSPORT_EVENT_SETTINGS).isEmpty }
        #expect(pair.client.events(APNS_TRANSPORT_EVENT_SETTINGS)[0].streamsMax == 1000)
        pair.client.submit((0..<1000).map { Request(ticket: $0) }, on: pair.connection)
        pair.drive { pair.server.received.count == 1000 }
        #expect(apns_transport_connection_streams_set(pair.server.handle, pair.serverConnection, 2) == 0)
        pair.drive { pair.client.events(APNS_TRANSPORT_EVENT_SETTINGS).count == 2 }
        pair.client.submit([Request(ticket: 5000)], on: pair.connection)
        pair.drive { pair.client.outcomes.count == 1 }
        #expect(pair.client.outcomes[0].code == Int64(APNS_TRANSPORT_LOCAL_NO_STREAM.rawValue))
        pair.server.received.forEach { pair.server.respond(Response(), to: $0) }
        pair.drive { pair.client.outcomes.count == 1001 }
        pair.client.submit((6000..<6003).map { Request(ticket: $0) }, on: pair.connection)
        pair.drive { pair.client.outcomes.count == 1002 && pair.server.received.count == 1002 }
        #expect(pair.client.outcomes.last?.ticket == 6002)
        #expect(pair.client.down == nil)
    }

    @Test("A request that is reset is maybe sent, and with REFUSED_STREAM not sent", arguments: Loop.available)
    func resets(loop: Loop) throws {
        let pair = try Pair(Limits(loop: loop))
        pair.server.answer = { Response(reset: $0.value(":path") == "/refused" ? 7 : 2) }
        pair.client.submit(
            [Request(ticket: 1, path: "/refused"), Request(ticket: 2, path: "/broken", body: "b")], on: pair.connection)
        pair.drive { pair.client.outcomes.count == 2 }
        let outcomes = pair.client.outcomes.sorted { $0.ticket < $1.ticket }
        #expect(
            outcomes.map(\.delivery) == [APNS_TRANSPORT_NOT_SENT.rawValue, APNS_TRANSPORT_MAY_HAVE_ARRIVED.rawValue])
        #expect(outcomes.map(\.scope) == [APNS_TRANSPORT_SCOPE_HTTP2.rawValue, APNS_TRANSPORT_SCOPE_HTTP2.rawValue])
        #expect(outcomes.map(\.code) == [7, 2])
    }

    @Test("A request that waits too long is given up, and the connection goes on", arguments: Loop.available)
    func deadline(loop: Loop) throws {
        let pair = try Pair(Limits(loop: loop, requestTimeoutMs: 40))
        pair.server.answer = { $0.value(":path") == "/never" ? nil : Response() }
        pair.client.submit((0..<10).map { Request(ticket: $0, path: "/never", body: "b") }, on: pair.connection)
        pair.drive { pair.client.outcomes.count == 10 }
        for outcome in pair.client.outcomes {
            #expect(outcome.delivery == APNS_TRANSPORT_MAY_HAVE_ARRIVED.rawValue)
            #expect(outcome.scope == APNS_TRANSPORT_SCOPE_TIMEOUT.rawValue && outcome.code == 40)
        }
        pair.client.submit([Request(ticket: 100, path: "/now")], on: pair.connection)
        pair.drive { pair.client.outcomes.count == 11 }
        #expect(pair.client.outcomes.last?.status == 200)
        #expect(apns_transport_streams_free(pair.client.handle) == 4096)
    }

    @Test("A submission of more requests than the slab holds is refused as a whole")
    func slab() throws {
        let pair = try Pair(Limits(streams: 4), streamsMax: 100)
        #expect(
            pair.client.submit((0..<5).map { Request(ticket: $0) }, on: pair.connection) == APNS_MISUSE.rawValue)
        #expect(apns_transport_streams_free(pair.client.handle) == 4)
        #expect(pair.client.submit((0..<4).map { Request(ticket: $0) }, on: pair.connection) == 0)
        #expect(apns_transport_streams_free(pair.client.handle) == 0)
        pair.server.answer = { _ in Response() }
        pair.drive { pair.client.outcomes.count == 4 }
    }
}
