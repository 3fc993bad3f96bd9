import APNSBatchBasics
import Synchronization
import Testing

@testable import LaneTransport

@Suite("Lane transport") struct TransportTests {
    private static func options(_ loop: LoopKind) -> TransportOptions {
        var options = TransportOptions()
        options.loop = loop
        options.connections = 2
        options.streams = 16
        return options
    }

    @Test("runs the loop that was asked for", arguments: [LoopKind.ioUring, .epoll])
    func loops(kind: LoopKind) throws {
        let transport = try Transport(Self.options(kind))
        let (loop, free) = (transport.loop, transport.streamsFree)
        #expect(loop == kind)
        #expect(free == 16)
    }

    @Test("a refused connection ends with one down event that says why", arguments: [LoopKind.ioUring, .epoll])
    func refused(kind: LoopKind) throws {
        var transport = try Transport(Self.options(kind))
        let tls = try transport.makeTLS(TLSOptions())
        // Port 1 of the loopback: nothing listens there.
        let address = try HostResolver.resolve(host: "127.0.0.1", port: 1)[0]
        let connection = try transport.connect(to: address, host: "localhost", tls: tls, context: 42)
        var down: [(ConnectionID, UInt64, String)] = []
        while down.isEmpty {
            let harvest = try transport.poll(timeout: 1000, linger: 0)
            for event in harvest.events where event.eventKind == .down {
                down.append((event.connection, event.context, event.detailText))
            }
        }
        #expect(down.count == 1)
        #expect(down[0].0 == connection && down[0].1 == 42)
        #expect(down[0].2.contains("refused"))
    }

    @Test("a certificate that is none is an error, not a crash")
    func badCertificate() throws {
        var transport = try Transport(Self.options(.automatic))
        var options = TLSOptions()
        options.certificate = Array("no certificate".utf8)
        options.key = Array("no key".utf8)
        var failed = false
        do {
            _ = try transport.makeTLS(options)
        } catch {
            failed = error.kind == .resource && !error.description.isEmpty
        }
        #expect(failed)
    }

    @Test("a wake from another thread ends a wait; before and after the lane's life it does nothing")
    func wakes() throws {
        let waker = LaneWaker()
        waker.wake()
        var transport = try Transport(Self.options(.automatic))
        transport.attach(waker)
        let thread = try NamedThread("waker") { waker.wake() }
        let harvest = try transport.poll(timeout: 60_000, linger: 0)
        let woken = harvest.events.contains { $0.eventKind == .woken }
        #expect(woken)
        thread.join()
        waker.detach()
        waker.wake()
    }
}
