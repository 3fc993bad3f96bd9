import CAPNSTransport
import Testing

/// What our HTTP/2 layer rests on of nghttp2, each under the name that nghttp2.h has for it. Run with another version of the
/// library, a test that fails names the promise that this version breaks.
@Suite("Promises of nghttp2")
struct LibraryPromiseTests {
    private static let initialWindow: UInt16 = 4
    private static let cancel: UInt32 = 8

    private func start(
        _ count: UInt64 = 1, body: String = "", _ limits: Limits = Limits(loop: .epoll),
        settings: [UInt16: UInt32] = [3: 100]
    ) throws -> WireTests.Setup {
        let setup = try WireTests.Setup(limits, settings: settings)
        setup.submit((1...count).map { Request(ticket: $0, body: body) })
        setup.drive { setup.peer.frames(Frame.headers).count == Int(count) }
        return setup
    }

    @Test("nghttp2_session_mem_send: one whole frame at a time, and the preface first")
    func memSend() throws {
        let setup = try start(3)
        setup.peer.send((0..<40).map { Frame(type: Frame.ping, payload: [UInt8](repeating: $0, count: 8)) })
        setup.peer.send([.settings([3: 50]), .ok(1), .ok(3), .ok(5)])
        setup.drive { setup.client.outcomes.count == 3 && setup.peer.frames(Frame.ping).count == 40 }
        #expect(setup.client.down == nil)
    }

    @Test(
        "nghttp2_session_mem_recv: takes all that it is given, in pieces of any size", arguments: [1, 8, 9, 10, 4000])
    func memReceive(piece: Int) throws {
        let setup = try start(2)
        let unknown = Frame(type: 0xbb, flags: 0xff, stream: 1, payload: [UInt8](repeating: 7, count: 100))
        var bytes = [unknown, .ok(1), unknown, .settings([3: 7]), .ok(3)].flatMap(\.bytes)
        while !bytes.isEmpty {
            setup.peer.send(bytes: Array(bytes.prefix(piece)))
            bytes.removeFirst(min(piece, bytes.count))
            setup.client.poll()
        }
        setup.drive { setup.client.outcomes.count == 2 }
        #expect(setup.client.outcomes.map(\.status) == [200, 200] && setup.client.down == nil)
    }

    @Test("nghttp2_submit_request: without fields and body, an empty HEADERS frame with END_STREAM, numbered upwards")
    func submitRequest() throws {
        let setup = try start(3)
        setup.submit([Request(ticket: 4, body: "b")])
        setup.drive { setup.peer.frames(Frame.data).count == 1 }
        let ended = Frame.endStream | Frame.endHeaders
        #expect(setup.peer.frames(Frame.headers).map(\.stream) == [1, 3, 5, 7])
        #expect(setup.peer.frames(Frame.headers).map(\.flags) == [ended, ended, ended, Frame.endHeaders])
    }

    @Test("nghttp2_submit_rst_stream: a stream that nghttp2 has is reset, once, and closed")
    func submitReset() throws {
        let setup = try start(2, Limits(loop: .epoll, requestTimeoutMs: 1))
        setup.drive { setup.client.outcomes.count == 2 && setup.peer.frames(Frame.reset).count == 2 }
        #expect(Set(setup.peer.frames(Frame.reset).map(\.stream)) == [1, 3])
        #expect(setup.peer.frames(Frame.reset).allSatisfy { $0.payload == bigEndian(Self.cancel) })
        #expect(setup.client.down == nil)
    }

    /// Some versions drop the RST_STREAM of a stream that they have closed in the meantime.
    @Test("A stream that was given up is reset once, also if its answer arrives before the reset leaves")
    func resetAfterTheAnswer() throws {
        let setup = try start(
            1, body: "waits for the window", Limits(loop: .epoll, requestTimeoutMs: 200, sendBuffer: 1),
            settings: [3: 1000, Self.initialWindow: 0])
        // Its timeout passes while the send buffer is full, so that the reset has to wait.
        setup.peer.reads = false
        setup.peer.send([Frame(type: 8, payload: bigEndian(1 << 30)), .settings([Self.initialWindow: 1 << 20])])
        setup.submit([Request(ticket: 2, body: String(repeating: "b", count: 1 << 20))])
        setup.drive { setup.client.outcomes.contains { $0.ticket == 1 } }
        setup.peer.send([.ok(1)])
        for _ in 0..<10 { setup.client.poll(timeoutMs: 1) }
        setup.peer.reads = true
        setup.drive { setup.peer.frames(Frame.reset).contains { $0.stream == 1 } || setup.client.down != nil }
        setup.submit([Request(ticket: 3)])
        setup.drive { setup.peer.frames(Frame.headers).count == 3 }
        let ended = setup.peer.frames(Frame.data).contains { $0.stream == 1 && $0.flags == Frame.endStream }
        #expect(ended || setup.peer.frames(Frame.reset).filter { $0.stream == 1 }.count == 1)
        #expect(setup.client.down == nil)
    }

    @Test("nghttp2_on_stream_close_callback: once for each stream, also for those above the last one of GOAWAY")
    func streamClose() throws {
        let setup = try start(4)
        setup.peer.send([.ok(1), .reset(3, 2), .goaway(5, 0, "")])
        setup.drive { setup.client.outcomes.count == 3 }
        setup.peer.send([.ok(5)])
        setup.drive { setup.client.outcomes.count == 4 && setup.client.down != nil }
        let delivery = Dictionary(uniqueKeysWithValues: setup.client.outcomes.map { ($0.ticket, $0.delivery) })
        #expect(
            delivery == [
                1: APNS_TRANSPORT_ANSWERED.rawValue, 2: APNS_TRANSPORT_MAY_HAVE_ARRIVED.rawValue,
                3: APNS_TRANSPORT_ANSWERED.rawValue, 4: APNS_TRANSPORT_NOT_SENT.rawValue,
            ])
    }

    @Test("nghttp2_session_get_remote_settings: what the last SETTINGS said, when they have been received")
    func remoteSettings() throws {
        let setup = try start(1)
        setup.peer.send([.settings([3: 3]), .settings([3: 2])])
        setup.drive { setup.client.events(APNS_TRANSPORT_EVENT_SETTINGS).last?.streamsMax == 2 }
        setup.submit([Request(ticket: 2), Request(ticket: 3)])
        setup.drive { setup.client.outcomes.count == 1 }
        #expect(setup.client.outcomes.map(\.ticket) == [3])
        #expect(setup.client.outcomes.map(\.delivery) == [APNS_TRANSPORT_NOT_SENT.rawValue])
    }

    @Test("nghttp2_session_want_read: no more after GOAWAY once the last stream has ended, and not before")
    func wantRead() throws {
        let setup = try start(2)
        setup.peer.send([.goaway(3, 0, "first"), .ok(1), .ok(3), .goaway(3, 0, "second")])
        setup.drive { setup.client.down != nil }
        #expect(setup.client.outcomes.map(\.status) == [200, 200])
        #expect(setup.client.events(APNS_TRANSPORT_EVENT_GOAWAY).map(\.detail) == ["first", "second"])
    }

    @Test("nghttp2_option_set_no_http_messaging: messages are not judged, and empty blocks are well-formed")
    func messaging() throws {
        let setup = try start(2)
        // A malformed answer, which is ours to notice, and trailers.
        let malformed = Frame(type: Frame.headers, flags: 5, stream: 1, payload: [0x82])
        let trailers = Frame(type: Frame.headers, flags: 5, stream: 3, payload: [0, 1, 0x78, 1, 0x79])
        setup.peer.send([malformed, .ok(3, end: false), trailers])
        setup.drive { setup.client.outcomes.count == 2 && !setup.peer.frames(Frame.reset).isEmpty }
        #expect(setup.client.outcomes.last?.status == 200 && setup.client.down == nil)
        #expect(setup.peer.frames(Frame.reset) == [.reset(1, 1)])
    }

    @Test("nghttp2_error_callback2, and GOAWAY with the error of a connection")
    func connectionError() throws {
        let setup = try start(1)
        setup.peer.send([Frame(type: Frame.data, stream: 99, payload: [1])])
        setup.drive { setup.client.down != nil && setup.peer.hasClosed }
        #expect(setup.client.down?.scope == APNS_TRANSPORT_SCOPE_SESSION.rawValue)
        #expect(setup.client.down?.code == 1 && setup.client.down?.detail.hasPrefix("HTTP/2: ") == true)
        #expect(setup.peer.frames(Frame.goaway).count == 1)
    }
}
