import APNSBatchBasics
import CAPNSTransport
import Synchronization
import Testing

@testable import APNSBatchTransport

@Suite("Lane transport") struct TransportTests {
    private static func options(_ loop: LoopKind) -> TransportOptions {
        var options = TransportOptions()
        options.loop = loop
        options.connections = 2
        options.streams = 16
        return options
    }

    @Test("The requested event loop runs", arguments: [LoopKind.ioUring, .epoll])
    func loops(kind: LoopKind) throws {
        let transport = try Transport(Self.options(kind))
        let (loop, free) = (transport.loop, transport.streamsFree)
        #expect(loop == kind)
        #expect(free == 16)
    }

    @Test("A refused connection ends with one down event that states the cause", arguments: [LoopKind.ioUring, .epoll])
    func refused(kind: LoopKind) throws {
        var transport = try Transport(Self.options(kind))
        let tls = try transport.makeTLS(TLSOptions())
        // Nothing listens on port 1 of the loopback interface.
        let address = try HostResolver.resolve(host: "127.0.0.1", port: 1)[0]
        let connection = try transport.connect(to: address, host: "localhost", tls: tls, context: 42)
        var down: [(ConnectionID, UInt64, String)] = []
        while down.isEmpty {
            let harvest = try transport.poll(timeout: 1_000_000, linger: 0)
            for event in harvest.events where event.eventKind == .down {
                down.append((event.connection, event.context, event.detailText))
            }
        }
        #expect(down.count == 1)
        #expect(down[0].0 == connection && down[0].1 == 42)
        #expect(down[0].2.contains("refused"))
    }

    @Test("An invalid certificate is an error, not a crash")
    func badCertificate() throws {
        var transport = try Transport(Self.options(.automatic))
        var options = TLSOptions()
        options.certificate = Array("no certificate".utf8)
        options.key = SecretBytes(copying: "no key".utf8)
        var failed = false
        do {
            _ = try transport.makeTLS(options)
        } catch {
            failed = error.kind == .resource && !error.description.isEmpty
        }
        #expect(failed)
    }

    @Test("A wake from another thread ends a wait, and has no effect outside the lane's lifetime")
    func wakes() throws {
        let waker = LaneWaker()
        waker.wake()
        try wait(for: waker)
        waker.wake()
    }

    /// Waits in a transport until another thread wakes it.
    private func wait(for waker: LaneWaker) throws {
        var transport = try Transport(Self.options(.automatic))
        transport.attach(waker)
        let thread = try NamedThread("waker") { waker.wake() }
        let harvest = try transport.poll(timeout: 60_000_000, linger: 0)
        let woken = harvest.events.contains { $0.eventKind == .woken }
        #expect(woken)
        thread.join()
    }
}

@Suite("Shared constants of C and Swift") struct NumberTests {
    /// Checks that every case is in `pairs` with the core's number for it, and that no case has two numbers.
    private func agree<Name: RawRepresentable & Hashable>(_ pairs: [(Name, UInt32)])
    where Name.RawValue: FixedWidthInteger {
        for (name, number) in pairs { #expect(UInt32(name.rawValue) == number, "\(name)") }
        let cases = (0..<100).compactMap { Name(rawValue: Name.RawValue($0)) }
        #expect(Set(cases) == Set(pairs.map(\.0)))
    }

    @Test("The constants of the core and their Swift names agree")
    func same() {
        agree([
            (Delivery.notSent, APNS_TRANSPORT_NOT_SENT.rawValue),
            (.mayHaveArrived, APNS_TRANSPORT_MAY_HAVE_ARRIVED.rawValue),
            (.answered, APNS_TRANSPORT_ANSWERED.rawValue),
        ])
        agree([
            (FailureScope.none, APNS_TRANSPORT_SCOPE_NONE.rawValue), (.system, APNS_TRANSPORT_SCOPE_SYSTEM.rawValue),
            (.tls, APNS_TRANSPORT_SCOPE_TLS.rawValue), (.http2, APNS_TRANSPORT_SCOPE_HTTP2.rawValue),
            (.session, APNS_TRANSPORT_SCOPE_SESSION.rawValue), (.timeout, APNS_TRANSPORT_SCOPE_TIMEOUT.rawValue),
            (.local, APNS_TRANSPORT_SCOPE_LOCAL.rawValue), (.end, APNS_TRANSPORT_SCOPE_END.rawValue),
            (.proxy, APNS_TRANSPORT_SCOPE_PROXY.rawValue),
        ])
        agree([
            (LoopKind.automatic, APNS_TRANSPORT_LOOP_AUTO.rawValue), (.ioUring, APNS_TRANSPORT_LOOP_IO_URING.rawValue),
            (.epoll, APNS_TRANSPORT_LOOP_EPOLL.rawValue), (.other, APNS_TRANSPORT_LOOP_OTHER.rawValue),
        ])
        agree([
            (ConnectionEventKind.up, APNS_TRANSPORT_EVENT_UP.rawValue),
            (.settings, APNS_TRANSPORT_EVENT_SETTINGS.rawValue),
            (.goaway, APNS_TRANSPORT_EVENT_GOAWAY.rawValue), (.down, APNS_TRANSPORT_EVENT_DOWN.rawValue),
            (.pong, APNS_TRANSPORT_EVENT_PONG.rawValue), (.woken, APNS_TRANSPORT_EVENT_WOKEN.rawValue),
            (.accepted, APNS_TRANSPORT_EVENT_ACCEPTED.rawValue),
        ])
        agree([
            (ConnectionStage.connecting, APNS_TRANSPORT_STAGE_CONNECTING.rawValue),
            (.tunneling, APNS_TRANSPORT_STAGE_TUNNELING.rawValue),
            (.handshaking, APNS_TRANSPORT_STAGE_HANDSHAKING.rawValue),
            (.settling, APNS_TRANSPORT_STAGE_SETTLING.rawValue), (.up, APNS_TRANSPORT_STAGE_UP.rawValue),
        ])
    }
}
