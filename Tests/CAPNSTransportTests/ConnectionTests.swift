import APNSBatchCredentials
import APNSBatchIdentities
import APNSBatchTestSupport
import CAPNSTransport
import CAPNSTransportServer
import Glibc
import Testing

@Suite("Connections")
struct ConnectionTests {
    @Test("A PING is answered with its round-trip time", arguments: Loop.available)
    func ping(loop: Loop) throws {
        let pair = try Pair(Limits(loop: loop))
        #expect(apns_transport_connection_ping(pair.client.handle, pair.connection) == 0)
        pair.drive { !pair.client.ping.isEmpty }
        #expect(pair.client.ping[0].code >= 0 && pair.client.ping[0].context == 5)
    }

    /// A wait that lingers may accept a connection and receive its first bytes.
    @Test("Bytes that are received in the wait that accepts their connection are not lost", arguments: Loop.available)
    func earlyBytes(loop: Loop) throws {
        for _ in 0..<10 {
            let (server, client) = (try Side(Limits(loop: loop)), try Side(Limits(loop: loop)))
            _ = try client.connect(try server.listen())
            // The kernel connects, and the client says hello.
            for _ in 0..<20 {
                client.poll()
                usleep(1000)
            }
            server.poll(timeoutMs: 1000, lingerUs: 50_000)
            let end = ContinuousClock.now + .seconds(20)
            while !client.isUp, .now < end {
                server.poll()
                client.poll()
            }
            #expect(client.isUp)
        }
    }

    @Test("Another thread ends a wait", arguments: Loop.available)
    func wake(loop: Loop) throws {
        let side = try Side(Limits(loop: loop))
        var waker = pthread_t()
        pthread_create(
            &waker, nil,
            { handle in
                apns_transport_wake(OpaquePointer(handle))
                return nil
            }, UnsafeMutableRawPointer(side.handle))
        side.poll(timeoutMs: 20_000)
        pthread_join(waker, nil)
        #expect(side.events.map(\.kind) == [APNS_TRANSPORT_EVENT_WOKEN.rawValue])
    }

    @Test("A released TLS configuration frees its number, and its connections go on")
    func releaseTLS() throws {
        let pair = try Pair(Limits(loop: .epoll))
        #expect(apns_transport_tls_release(pair.client.handle, 0) == 0)
        #expect(apns_transport_tls_release(pair.client.handle, 0) == APNS_MISUSE.rawValue)
        #expect(apns_transport_tls_release(pair.client.handle, 1) == APNS_MISUSE.rawValue)
        #expect(apns_transport_tls_release(pair.client.handle, -1) == APNS_MISUSE.rawValue)
        pair.client.submit([Request(ticket: 1)], on: pair.connection)
        pair.drive { pair.server.received.count == 1 }
        pair.server.respond(Response(), to: pair.server.received[0])
        pair.drive { pair.client.outcomes.count == 1 }
        #expect(pair.client.outcomes[0].status == 200)
        for _ in 0..<300 {
            #expect(try pair.client.tls({ _ in }, pem: [ServerIdentity.test.caPEM, nil, nil]) == 0)
            #expect(apns_transport_tls_release(pair.client.handle, 0) == 0)
        }
    }

    @Test("A drained connection closes after its last outcome and takes no new request", arguments: Loop.available)
    func drain(loop: Loop) throws {
        let pair = try Pair(Limits(loop: loop))
        pair.client.submit([Request(ticket: 1)], on: pair.connection)
        pair.drive { pair.server.received.count == 1 }
        #expect(
            apns_transport_connection_close(pair.client.handle, pair.connection, APNS_TRANSPORT_CLOSE_DRAIN.rawValue)
                == 0)
        pair.client.submit([Request(ticket: 2)], on: pair.connection)
        pair.drive { pair.client.outcomes.count == 1 }
        #expect(
            pair.client.outcomes[0].ticket == 2 && pair.client.outcomes[0].delivery == APNS_TRANSPORT_NOT_SENT.rawValue)
        #expect(pair.client.down == nil)
        pair.server.respond(Response(), to: pair.server.received[0])
        pair.drive { pair.client.down != nil && pair.server.down != nil }
        #expect(pair.client.outcomes.map(\.status) == [0, 200])
        #expect(pair.client.down?.scope == APNS_TRANSPORT_SCOPE_LOCAL.rawValue)
        #expect(pair.client.down?.code == Int64(APNS_TRANSPORT_LOCAL_CLOSED.rawValue))
        #expect(pair.server.down?.scope == APNS_TRANSPORT_SCOPE_END.rawValue)
    }

    @Test("Closing at once gives every open request its outcome, and then one end event", arguments: Loop.available)
    func closeNow(loop: Loop) throws {
        let pair = try Pair(Limits(loop: loop))
        pair.client.submit((0..<5).map { Request(ticket: $0) }, on: pair.connection)
        pair.drive { pair.server.received.count == 5 }
        apns_transport_connection_close(pair.client.handle, pair.connection, APNS_TRANSPORT_CLOSE_NOW.rawValue)
        pair.drive { pair.client.down != nil && pair.server.down != nil }
        #expect(pair.client.outcomes.count == 5)
        #expect(pair.client.outcomes.allSatisfy { $0.delivery == APNS_TRANSPORT_MAY_HAVE_ARRIVED.rawValue })
        #expect(pair.client.events(APNS_TRANSPORT_EVENT_DOWN).count == 1)
        pair.client.submit([Request(ticket: 9)], on: pair.connection)
        pair.drive { pair.client.outcomes.count == 6 }
        #expect(pair.client.outcomes.last?.delivery == APNS_TRANSPORT_NOT_SENT.rawValue)
        #expect(apns_transport_connection_ping(pair.client.handle, pair.connection) == APNS_MISUSE.rawValue)
    }

    @Test(
        "A request for a lost connection has its outcome before the connection's end", arguments: Loop.available
    )
    func lateRequest(loop: Loop) throws {
        let pair = try Pair(Limits(loop: loop))
        pair.client.submit((0..<20).map { Request(ticket: $0) }, on: pair.connection)
        pair.drive { pair.server.received.count == 20 }
        apns_transport_connection_close(pair.client.handle, pair.connection, APNS_TRANSPORT_CLOSE_NOW.rawValue)
        pair.client.submit([Request(ticket: 20), Request(ticket: 21)], on: pair.connection)
        var outcomesAtEnd: Int?
        drive([pair.server]) {
            pair.client.poll(capacity: 1)
            if pair.client.down != nil, outcomesAtEnd == nil { outcomesAtEnd = pair.client.outcomes.count }
        } until: {
            pair.client.down != nil && pair.client.outcomes.count == 22
        }
        #expect(outcomesAtEnd == 22)
        #expect(pair.client.outcomes.map(\.ticket) == Array(0..<22))
        #expect(pair.client.outcomes.suffix(2).allSatisfy { $0.delivery == APNS_TRANSPORT_NOT_SENT.rawValue })
    }

    @Test("Requests that never reached the loop are not sent when the connection closes", arguments: Loop.available)
    func closeUnsent(loop: Loop) throws {
        let pair = try Pair(Limits(loop: loop))
        pair.client.submit((0..<5).map { Request(ticket: $0) }, on: pair.connection)
        apns_transport_connection_close(pair.client.handle, pair.connection, APNS_TRANSPORT_CLOSE_NOW.rawValue)
        pair.drive { pair.client.down != nil && pair.server.down != nil }
        #expect(pair.client.outcomes.count == 5)
        #expect(pair.client.outcomes.allSatisfy { $0.delivery == APNS_TRANSPORT_NOT_SENT.rawValue })
        #expect(pair.server.received.isEmpty)
    }

    @Test(
        "After GOAWAY the open streams are awaited, and then the connection closes",
        arguments: Loop.available)
    func goaway(loop: Loop) throws {
        let pair = try Pair(Limits(loop: loop))
        pair.client.submit([Request(ticket: 1), Request(ticket: 2)], on: pair.connection)
        pair.drive { pair.server.received.count == 2 }
        let debug = Array("{\"reason\":\"Shutdown\"}".utf8)
        #expect(
            apns_transport_connection_goaway(pair.server.handle, pair.serverConnection, 0, debug, UInt32(debug.count))
                == 0)
        pair.drive { !pair.client.events(APNS_TRANSPORT_EVENT_GOAWAY).isEmpty }
        let event = pair.client.events(APNS_TRANSPORT_EVENT_GOAWAY)[0]
        #expect(event.lastStream == 3 && event.code == 0 && event.detail == "{\"reason\":\"Shutdown\"}")
        pair.client.submit([Request(ticket: 3)], on: pair.connection)
        pair.drive { pair.client.outcomes.count == 1 }
        #expect(pair.client.outcomes[0].delivery == APNS_TRANSPORT_NOT_SENT.rawValue && pair.client.down == nil)
        pair.server.received.forEach { pair.server.respond(Response(), to: $0) }
        pair.drive { pair.client.down != nil && pair.server.down != nil }
        #expect(pair.client.outcomes.map(\.status) == [0, 200, 200])
        #expect(pair.client.down?.scope == APNS_TRANSPORT_SCOPE_HTTP2.rawValue)
    }

    @Test("A draining server answers open requests and states its last stream", arguments: Loop.available)
    func serverDrain(loop: Loop) throws {
        let pair = try Pair(Limits(loop: loop))
        pair.client.submit([Request(ticket: 1)], on: pair.connection)
        pair.drive { pair.server.received.count == 1 }
        apns_transport_connection_close(pair.server.handle, pair.serverConnection, APNS_TRANSPORT_CLOSE_DRAIN.rawValue)
        pair.drive { !pair.client.events(APNS_TRANSPORT_EVENT_GOAWAY).isEmpty }
        pair.server.respond(Response(status: 503), to: pair.server.received[0])
        pair.drive { pair.client.down != nil && pair.server.down != nil }
        #expect(pair.client.outcomes.map(\.status) == [503])
    }

    @Test("A server that closes at once leaves requests maybe sent", arguments: Loop.available)
    func serverCloses(loop: Loop) throws {
        let pair = try Pair(Limits(loop: loop))
        pair.client.submit([Request(ticket: 1), Request(ticket: 2)], on: pair.connection)
        pair.drive { pair.server.received.count == 2 }
        apns_transport_connection_close(pair.server.handle, pair.serverConnection, APNS_TRANSPORT_CLOSE_NOW.rawValue)
        pair.drive { pair.client.down != nil && pair.server.down != nil }
        #expect(pair.client.outcomes.map(\.delivery) == [1, 1])
        #expect(pair.server.down?.code == Int64(APNS_TRANSPORT_LOCAL_CLOSED.rawValue))
        pair.server.respond(Response(), to: pair.server.received[0])
        #expect(apns_transport_streams_free(pair.server.handle) == 4096)
    }

    @Test("A connection to a port without a listener fails with a system error", arguments: Loop.available)
    func refused(loop: Loop) throws {
        let client = try Side(Limits(loop: loop))
        let port = ReservedPort()
        _ = try client.connect(port.number)
        drive([client]) { client.down != nil }
        #expect(client.events.count == 1)
        #expect(client.down?.scope == APNS_TRANSPORT_SCOPE_SYSTEM.rawValue && client.down?.code == Int64(ECONNREFUSED))
        #expect(client.down?.detail == "Connection refused")
    }

    @Test("Connecting to a silent peer is given up in time", arguments: Loop.available)
    func silence(loop: Loop) throws {
        let client = try Side(Limits(loop: loop, connectTimeoutMs: 50))
        let server = try RawPeer()
        _ = try client.connect(server.port)
        drive([client]) { client.down != nil }
        #expect(client.down?.scope == APNS_TRANSPORT_SCOPE_TIMEOUT.rawValue && client.down?.code == 50)
        #expect(client.down?.detail == "TCP connected, but no TLS handshake within 0.05 s")
        #expect(client.down?.stage == APNS_TRANSPORT_STAGE_HANDSHAKING.rawValue)
    }

    @Test(
        "A host that does not accept the connection is reported as having no TCP connection", arguments: Loop.available)
    func noTCP(loop: Loop) throws {
        let client = try Side(Limits(loop: loop, connectTimeoutMs: 300))
        let server = try FullListener()
        _ = try client.connect(server.port)
        drive([client]) { client.down != nil }
        #expect(client.down?.scope == APNS_TRANSPORT_SCOPE_TIMEOUT.rawValue)
        #expect(client.down?.detail == "no TCP connection within 0.3 s")
        #expect(client.down?.stage == APNS_TRANSPORT_STAGE_CONNECTING.rawValue)
    }

    @Test("A proxy that does not answer is reported as the cause", arguments: Loop.available)
    func silentProxy(loop: Loop) throws {
        let client = try Side(Limits(loop: loop, connectTimeoutMs: 300))
        let proxy = try RawPeer()
        let request = Array("CONNECT localhost:443 HTTP/1.1\r\nhost: localhost:443\r\n\r\n".utf8)
        let status = apns_transport_tunnel_set(client.handle, request, UInt32(request.count))
        try #require(status == 0)
        _ = try client.connect(proxy.port)
        drive([client]) { client.down != nil }
        #expect(client.down?.detail == "no answer from the proxy within 0.3 s")
        #expect(client.down?.stage == APNS_TRANSPORT_STAGE_TUNNELING.rawValue)
    }

    @Test("A connect without a free descriptor names the limit, and the next one succeeds")
    func noDescriptor() async {
        await #expect(processExitsWith: .success) {
            let client = try Side(Limits(loop: .epoll))
            let server = try RawPeer()
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            var none = limit
            none.rlim_cur = 3
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none)
            do {
                _ = try client.connect(server.port)
                preconditionFailure("there is no descriptor")
            } catch let failure as TransportFailure {
                precondition(failure.status == APNS_RESOURCE.rawValue)
                precondition(failure.text == "Too many open files; raise the limit (ulimit -n)", failure.text)
            }
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            _ = try client.connect(server.port)
        }
    }

    /// A deadline that has passed makes the transport process everything that has arrived at once. This is answers on
    /// three connections, and the end of one of them, whose slot the next connection gets.
    @Test("Pending writes are kept when another connection ends", arguments: Loop.available)
    func endsBesideOthers(loop: Loop) throws {
        let limit: UInt32 = 300
        let client = try Side(Limits(loop: loop, connections: 8, connectTimeoutMs: limit))
        let server = try Side(Limits(loop: loop, connections: 8))
        let mute = try RawPeer()
        client.define()
        let port = try server.listen()
        let connections = try (0..<3).map { _ in try client.connect(port) }
        drive([client, server]) { client.events(APNS_TRANSPORT_EVENT_UP).count == 3 }
        for connection in connections { client.submit([Request(ticket: 1)], on: connection) }
        drive([client, server]) { server.received.count == 3 }
        _ = try client.connect(mute.port)
        client.poll()
        let end = apns_transport_now_ns(client.handle) + UInt64(limit + 50) * 1_000_000
        for request in server.received { server.respond(Response(), to: request) }
        server.poll()
        let ending = server.received[1].connection
        #expect(apns_transport_fault_abort(server.handle, ending, APNS_TRANSPORT_ABORT_CLOSE.rawValue) == 0)
        while apns_transport_now_ns(client.handle) < end { server.poll(timeoutMs: 20) }

        func ended() -> Set<UInt64> {
            Set(connections).intersection(client.events(APNS_TRANSPORT_EVENT_DOWN).map(\.connection))
        }
        drive([client]) { !ended().isEmpty }
        for _ in 0..<2 { _ = try client.connect(port) }
        let left = Set(connections).subtracting(ended())
        try #require(left.count == 2)
        for connection in left { client.submit([Request(ticket: 2)], on: connection) }
        drive([client, server]) { server.received.count == 5 }
        #expect(server.received.count == 5)
    }

    @Test("A TLS server without HTTP/2 is reported as having sent no SETTINGS", arguments: Loop.available)
    func noSettings(loop: Loop) throws {
        let client = try Side(Limits(loop: loop, connectTimeoutMs: 3000))
        let server = try OpenSSLServer(["-alpn", "h2"])
        let connection = try client.connect(server.port)
        drive([client]) {
            apns_transport_connection_stage(client.handle, connection) == APNS_TRANSPORT_STAGE_SETTLING.rawValue
        }
        drive([client]) { client.down != nil }
        #expect(client.down?.detail == "TLS connected, but no SETTINGS within 3 s")
        #expect(client.down?.stage == APNS_TRANSPORT_STAGE_SETTLING.rawValue)
        #expect(apns_transport_connection_stage(client.handle, connection) == APNS_TRANSPORT_STAGE_NONE.rawValue)
    }

    struct Doubt: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var host: String
        var ca: [UInt8]?
        var code: Int64
        var detail: String
    }

    static let doubts = [
        Doubt(
            testDescription: "wrong host name", host: "example.com", ca: ServerIdentity.test.caPEM, code: 62,
            detail: "the server's certificate was not accepted: hostname mismatch"),
        Doubt(
            testDescription: "wrong address", host: "127.0.0.2", ca: ServerIdentity.test.caPEM, code: 64,
            detail: "the server's certificate was not accepted: IP address mismatch"),
        Doubt(
            testDescription: "unknown authority", host: "localhost", ca: ServerIdentity.other.caPEM, code: 20,
            detail: "the server's certificate was not accepted: unable to get local issuer certificate: "
                + "none of the trusted authorities (ca_file) has issued it"),
        Doubt(
            testDescription: "no authority", host: "localhost", ca: nil, code: 20,
            detail: "the server's certificate was not accepted: unable to get local issuer certificate: "
                + "none of the trusted authorities (ca_file) has issued it"),
    ]

    @Test("A server with the wrong identity is refused", arguments: Loop.available, doubts)
    func verification(loop: Loop, doubt: Doubt) throws {
        let client = try Side(Limits(loop: loop))
        let server = try Side(Limits(loop: loop))
        _ = try client.connect(try server.listen(), host: doubt.host, ca: doubt.ca)
        drive([client, server]) { client.down != nil && server.down != nil }
        #expect(client.down?.scope == APNS_TRANSPORT_SCOPE_TLS.rawValue && client.down?.code == doubt.code)
        #expect(client.down?.detail == doubt.detail)
        #expect(server.events(APNS_TRANSPORT_EVENT_ACCEPTED).isEmpty)
    }

    @Test("A certificate can name an IP address instead of a host", arguments: Loop.available)
    func address(loop: Loop) throws {
        let client = try Side(Limits(loop: loop))
        let server = try Side(Limits(loop: loop))
        _ = try client.connect(try server.listen(), host: "127.0.0.1")
        drive([client, server]) { client.isUp }
        #expect(client.events(APNS_TRANSPORT_EVENT_UP).first?.detail == "TLSv1.3 TLS_AES_128_GCM_SHA256")
    }

    @Test("A client certificate is sent when the server requests it", arguments: Loop.available)
    func clientCertificate(loop: Loop) throws {
        let client = try Side(Limits(loop: loop))
        let server = try Side(Limits(loop: loop))
        client.define()
        server.answer = { _ in Response() }
        let port = try server.listen(askForCertificate: true)
        let connection = try client.connect(port, certificate: .other)
        drive([client, server]) { client.isUp }
        client.submit([Request(ticket: 1)], on: connection)
        drive([client, server]) { client.outcomes.count == 1 }
        #expect(client.outcomes.map(\.status) == [200])
    }

    @Test("The subject of a verified client certificate is reported with the connection", arguments: Loop.available)
    func clientSubject(loop: Loop) throws {
        let made = try SelfSignedClient.make(userID: "com.example.app", commonName: "Apple\nPush: Zoë")
        let own = (made.certificatePEM, made.keyPEM)
        let protocolLine = "TLSv1.3 TLS_AES_128_GCM_SHA256\n"
        let cases: [(own: ([UInt8], [UInt8])?, clientCA: [UInt8]?, detail: String)] = [
            (own, made.certificatePEM, protocolLine + "UID=com.example.app\nCN=Apple?Push: Zoë\n"),
            (own, nil, protocolLine), (nil, made.certificatePEM, protocolLine),
        ]
        for (own, clientCA, detail) in cases {
            let client = try Side(Limits(loop: loop))
            let server = try Side(Limits(loop: loop))
            let port = try server.listen(askForCertificate: true, clientCA: clientCA)
            _ = try client.connect(port, own: own)
            drive([client, server]) { !server.events(APNS_TRANSPORT_EVENT_ACCEPTED).isEmpty }
            #expect(server.events(APNS_TRANSPORT_EVENT_ACCEPTED).map(\.detail) == [detail])
        }
    }

    @Test("An overlong name in a client certificate is omitted, not cut", arguments: [200, 180])
    func longSubject(length: Int) throws {
        let userID = String(repeating: "a", count: length)
        let made = try SelfSignedClient.make(userID: userID, commonName: String(repeating: "b", count: 40))
        let client = try Side(Limits())
        let server = try Side(Limits())
        let port = try server.listen(askForCertificate: true, clientCA: made.certificatePEM)
        _ = try client.connect(port, own: (made.certificatePEM, made.keyPEM))
        drive([client, server]) { !server.events(APNS_TRANSPORT_EVENT_ACCEPTED).isEmpty }
        let lines = server.events(APNS_TRANSPORT_EVENT_ACCEPTED)[0].detail.split(separator: "\n").dropFirst()
        #expect(lines.map(String.init) == ["UID=" + userID])
    }

    @Test("A client certificate of another authority ends the connection", arguments: Loop.available)
    func foreignClientCertificate(loop: Loop) throws {
        let trusted = try SelfSignedClient.make(userID: "com.example.app")
        let foreign = try SelfSignedClient.make(userID: "com.example.app")
        let client = try Side(Limits(loop: loop))
        let server = try Side(Limits(loop: loop))
        let port = try server.listen(askForCertificate: true, clientCA: trusted.certificatePEM)
        _ = try client.connect(port, own: (foreign.certificatePEM, foreign.keyPEM))
        drive([client, server]) { client.down != nil }
        #expect(server.events(APNS_TRANSPORT_EVENT_ACCEPTED).isEmpty)
        #expect(client.down?.scope == APNS_TRANSPORT_SCOPE_TLS.rawValue)
    }

    @Test("Invalid keys and certificates are named, without their content")
    func badPEM() throws {
        let side = try Side(Limits())
        let good = ServerIdentity.test
        let cases: [([[UInt8]?], String)] = [
            ([Array("nonsense".utf8), nil, nil], "trusted certificates"),
            ([nil, Array("nonsense".utf8), good.keyPEM], "own certificate"),
            ([nil, good.certificatePEM, Array("nonsense".utf8)], "own private key"),
            ([nil, good.certificatePEM, nil], "own private key"),
            ([nil, good.certificatePEM, ServerIdentity.other.keyPEM], "own private key"),
        ]
        for (pem, what) in cases {
            #expect {
                _ = try side.tls({ _ in }, pem: pem)
            } throws: { error in
                let failure = error as? TransportFailure
                return failure?.status == APNS_RESOURCE.rawValue && failure?.text.hasPrefix(what) == true
            }
        }
    }

    @Test("A transport can be destroyed while requests and connections are open", arguments: Loop.available)
    func destroy(loop: Loop) throws {
        var pair: Pair? = try Pair(Limits(loop: loop))
        pair?.client.submit((0..<50).map { Request(ticket: $0, body: "body") }, on: pair!.connection)
        pair?.client.poll()
        pair?.server.poll()
        _ = try pair?.client.connect(1)
        pair = nil
    }

    @Test("Options out of range are refused")
    func options() {
        for limits in [Limits(connections: 0), Limits(streams: 0), Limits(sendBuffer: 0)] {
            #expect(throws: TransportFailure.self) { try Side(limits) }
        }
    }

    @Test("Slots are reused, and an old number never names a new connection", arguments: Loop.available)
    func slots(loop: Loop) throws {
        let client = try Side(Limits(loop: loop, connections: 1))
        let server = try Side(Limits(loop: loop, connections: 2))
        let port = try server.listen()
        var seen: Set<UInt64> = []
        for round in 1...5 {
            let connection = try client.connect(port)
            #expect(throws: TransportFailure.self) { try client.connect(port) }
            #expect(seen.insert(connection).inserted)
            drive([client, server]) { client.events(APNS_TRANSPORT_EVENT_UP).count == round }
            apns_transport_connection_close(client.handle, connection, APNS_TRANSPORT_CLOSE_DRAIN.rawValue)
            drive([client, server]) {
                client.events(APNS_TRANSPORT_EVENT_DOWN).count == round
                    && server.events(APNS_TRANSPORT_EVENT_DOWN).count == round
            }
        }
        #expect(client.events(APNS_TRANSPORT_EVENT_DOWN).count == 5)
    }
}
