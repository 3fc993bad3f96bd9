import CAPNSTransport
import Glibc
import Testing

/// The end of a program's connections: GOAWAY (RFC 9113, section 6.8) and close_notify (RFC 8446, section 6.1).
@Suite("Goodbye") struct FarewellTests {
    /// A client that is up, and a peer.
    private struct Setup {
        let client: Side
        let peer: RawPeer
        let connection: UInt64

        init(_ loop: Loop, settings: [UInt16: UInt32] = [3: 4000]) throws {
            let client = try Side(Limits(loop: loop, sendBuffer: 16_384))
            let peer = try RawPeer(settings: settings)
            client.define()
            connection = try client.connect(peer.port)
            drive([client], and: peer.step) { client.isUp }
            (self.client, self.peer) = (client, peer)
        }

        /// Says goodbye, and returns how many seconds that took.
        func sayGoodbye() -> Double {
            let begin = apns_transport_now_ns(client.handle)
            apns_transport_farewell(client.handle)
            return Double(apns_transport_now_ns(client.handle) - begin) / 1e9
        }

        /// Lets the peer read what has arrived. The client does nothing.
        func read(until done: () -> Bool) {
            let end = apns_transport_now_ns(client.handle) + 20_000_000_000
            while !done(), apns_transport_now_ns(client.handle) < end { peer.step() }
        }
    }

    /// What OpenSSL's server shows of the end, with the messages of TLS.
    @Test(
        "Servers get GOAWAY and close_notify, over both versions of TLS", arguments: Loop.available,
        ["-tls1_2", "-tls1_3"])
    func bothVersions(loop: Loop, version: String) throws {
        let server = try OpenSSLServer([version, "-alpn", "h2", "-msg"])
        do {
            let client = try Side(Limits(loop: loop))
            _ = try client.connect(server.port)
            server.write(Frame.settings([3: 100]).bytes)
            drive([client]) { client.isUp }
            #expect(client.isUp)
            apns_transport_farewell(client.handle)
        }
        let shown = server.output(until: "warning close_notify")
        #expect(shown.contains("warning close_notify"))
        let goaway = Frame(type: Frame.goaway, payload: [UInt8](repeating: 0, count: 8))
        #expect(shown.contains(String(goaway.bytes.map { Character(UnicodeScalar($0)) })))
    }

    @Test("A peer that only listens gets all of it, although nobody waits for its end", arguments: Loop.available)
    func silentPeer(loop: Loop) throws {
        var setup: Setup? = try Setup(loop)
        let (client, peer) = (try #require(setup).client, try #require(setup).peer)
        peer.hangsUp = false
        #expect(try #require(setup).sayGoodbye() < 5)
        apns_transport_farewell(client.handle)
        setup?.read { peer.hasCloseNotify }
        #expect(peer.hasCloseNotify && peer.frames(Frame.goaway).count == 1)
        setup = nil
    }

    @Test("The goodbye ends when all peers have closed", arguments: Loop.available)
    func promptPeer(loop: Loop) throws {
        let pair = try Pair(Limits(loop: loop))
        apns_transport_connection_close(pair.client.handle, pair.connection, APNS_TRANSPORT_CLOSE_DRAIN.rawValue)
        pair.drive { pair.client.down != nil && pair.server.down != nil }
        let begin = apns_transport_now_ns(pair.client.handle)
        apns_transport_farewell(pair.client.handle)
        // No connection is left, so that there is no wait at all.
        #expect(apns_transport_now_ns(pair.client.handle) - begin < 90_000_000)
    }

    @Test("A peer that does not read holds nothing up", arguments: Loop.available)
    func stuckPeer(loop: Loop) throws {
        let setup = try Setup(loop)
        setup.peer.reads = false
        setup.client.submit(
            (0..<4000).map { Request(ticket: $0, path: "/" + String(repeating: "p", count: 5000)) },
            on: setup.connection)
        for _ in 0..<20 { setup.client.poll() }
        // The limit is 0.1 s; the machine may be busy.
        #expect(setup.sayGoodbye() < 5)
        setup.client.poll()
        #expect(setup.client.down != nil || setup.client.outcomes.count <= 4000)
    }

    @Test("Requests in flight keep their outcome", arguments: Loop.available)
    func inFlight(loop: Loop) throws {
        let setup = try Setup(loop)
        setup.client.submit([Request(ticket: 1), Request(ticket: 2)], on: setup.connection)
        drive([setup.client], and: setup.peer.step) { setup.peer.frames(Frame.headers).count == 2 }
        setup.peer.send([.ok(1)])
        drive([setup.client], and: setup.peer.step) { setup.client.outcomes.count == 1 }
        _ = setup.sayGoodbye()
        setup.read { setup.peer.hasCloseNotify }
        #expect(setup.peer.hasCloseNotify && setup.peer.frames(Frame.goaway).count == 1)
        drive([setup.client]) { setup.client.outcomes.count == 2 }
        #expect(
            setup.client.outcomes.map(\.delivery) == [
                APNS_TRANSPORT_ANSWERED.rawValue, APNS_TRANSPORT_MAY_HAVE_ARRIVED.rawValue,
            ])
    }

    @Test("Connections that are not up yet, or were never made, do not delay it", arguments: Loop.available)
    func unfinished(loop: Loop) throws {
        let listener = try FullListener()
        let client = try Side(Limits(loop: loop))
        _ = try client.connect(listener.port)
        let begin = apns_transport_now_ns(client.handle)
        apns_transport_farewell(client.handle)
        #expect(apns_transport_now_ns(client.handle) - begin < 5_000_000_000)
        drive([client]) { client.down != nil }
        #expect(client.down?.code == Int64(APNS_TRANSPORT_LOCAL_CLOSED.rawValue))
    }
}
