import CAPNSReactor
import CAPNSSimulatedNetwork
import Glibc
import Testing

@Suite("The simulated network")
struct WorldTests {
    /// The result of sending 20,000 bytes from a client, and of the server's short reply.
    private struct Transfer: Equatable {
        var connect: Int32?
        var received: [UInt8] = []
        var serverEnd: Int32?
        var clientEnd: Int32?
        var digest: UInt64 = 0
        var elapsed: UInt64 = 0
    }

    private static let bytes = pattern(20_000)

    /// Runs until no more events are due, at most for a second of virtual time.
    private func transfer(seed: UInt64, change: (inout apns_reactor_world_options) -> Void = { _ in }) throws
        -> Transfer
    {
        let world = World(seed: seed, change: change)
        let (client, server) = (try Loop(world: world.handle), try Loop(world: world.handle))
        let (_, port) = try server.listen()
        let socket = try client.connect(port: port)
        var result = Transfer()
        let start = world.now
        try Self.bytes.withUnsafeBufferPointer { bytes in
            while let number = world.next(), world.now < start + 1_000_000_000 {
                let loop = number == 0 ? client : server
                for event in loop.waitOnce(timeout: UInt64.max, linger: 0, batch: 1, capacity: 16) {
                    try note(event, of: number, in: &result)
                    if event.kind == APNS_REACTOR_CONNECTED && event.error == 0 {
                        try check(client.send(socket, bytes))
                    }
                }
            }
        }
        result.digest = world.digest
        result.elapsed = world.now - start
        return result
    }

    private func note(_ event: Event, of number: UInt32, in result: inout Transfer) throws {
        switch event.kind {
        case APNS_REACTOR_CONNECTED: result.connect = event.error
        case APNS_REACTOR_RECEIVED where event.length > 0: result.received += event.bytes
        case APNS_REACTOR_RECEIVED where number == 0: result.clientEnd = event.error
        case APNS_REACTOR_RECEIVED: result.serverEnd = event.error
        default: break
        }
    }

    @Test("The same seed gives the same bytes at the same times, and another seed gives others")
    func reproduction() throws {
        for seed in 1...20 as ClosedRange<UInt64> {
            let first = try transfer(seed: seed)
            #expect(first == (try transfer(seed: seed)))
            #expect(first.received == Self.bytes)
            #expect(first.digest != (try transfer(seed: seed + 1)).digest)
        }
    }

    @Test("A refused connection is reported, and an unanswered one never is")
    func attempts() throws {
        #expect(try transfer(seed: 1) { $0.faults.refused = 1_000_000 }.connect == ECONNREFUSED)
        #expect(try transfer(seed: 1) { $0.faults.unanswered = 1_000_000 }.connect == nil)
    }

    @Test("A reset is reported to both ends, after a prefix of the bytes that were sent")
    func reset() throws {
        for seed in 1...50 as ClosedRange<UInt64> {
            let result = try transfer(seed: seed) {
                $0.faults.reset = 1_000_000
                $0.faults.fault_bytes = 20_000
            }
            guard result.clientEnd != nil else {
                // The client waits for a byte that the server does not send.
                #expect(result.received == Self.bytes)
                continue
            }
            #expect(result.clientEnd == ECONNRESET && result.serverEnd == ECONNRESET)
            #expect(Self.bytes.starts(with: result.received))
        }
    }

    @Test("A cut is an end of stream after the bytes that were sent before it")
    func cut() throws {
        var cuts = 0
        for seed in 1...50 as ClosedRange<UInt64> {
            let result = try transfer(seed: seed) {
                $0.faults.cut = 1_000_000
                $0.faults.fault_bytes = 20_000
            }
            guard result.serverEnd != nil else { continue }
            cuts += 1
            #expect(result.clientEnd == 0 && result.serverEnd == 0)
            #expect(Self.bytes.starts(with: result.received))
        }
        #expect(cuts > 5)
    }

    @Test("On a silent link nothing arrives and no event is reported")
    func silence() throws {
        var short = 0
        for seed in 1...50 as ClosedRange<UInt64> {
            let result = try transfer(seed: seed) {
                $0.faults.silent = 1_000_000
                $0.faults.fault_bytes = 20_000
            }
            #expect(result.serverEnd == nil && result.clientEnd == nil)
            #expect(Self.bytes.starts(with: result.received))
            short += result.received.count < Self.bytes.count ? 1 : 0
        }
        #expect(short > 5)
    }

    @Test("A slow link delays bytes")
    func slow() throws {
        // Each byte takes at least 10 µs.
        #expect(try transfer(seed: 1) { $0.slow = 1_000_000 }.elapsed >= 200_000_000)
    }

    @Test("A reactor that waits for nothing gets no turn")
    func nothing() throws {
        let world = World(seed: 1)
        let loop = try Loop(world: world.handle)
        while let number = world.next() {
            #expect(number == 0)
            #expect(loop.waitOnce(timeout: UInt64.max, linger: 0, batch: 1, capacity: 4).isEmpty)
        }
        loop.wake()
        #expect(world.next() == 0)
    }
}
