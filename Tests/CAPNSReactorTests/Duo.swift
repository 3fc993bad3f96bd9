import CAPNSReactor
import CAPNSSimulatedNetwork
import Testing

/// Two reactors that are connected to each other, either over the kernel's loopback interface or in a simulated world.
final class Duo {
    enum Kind: CaseIterable, CustomTestStringConvertible {
        case ioUring, epoll, simulated

        var testDescription: String { "\(self)" }

        private var backend: Backend? {
            switch self {
            case .ioUring: .ioUring
            case .epoll: .epoll
            case .simulated: nil
            }
        }

        static let available = allCases.filter { $0.backend.map(Backend.available.contains) ?? true }

        fileprivate func loop(_ world: OpaquePointer?, sockets: UInt32) throws -> Loop {
            if let backend { return try Loop(backend, sockets: sockets) }
            return try Loop(world: world!, sockets: sockets)
        }
    }

    let client: Loop
    let server: Loop
    private let world: World?
    /// The events of each side so far.
    private var events: (client: [Event], server: [Event]) = ([], [])

    init(_ kind: Kind, sockets: UInt32 = 16) throws {
        world = kind == .simulated ? World(seed: 1) : nil
        client = try kind.loop(world?.handle, sockets: sockets)
        server = try kind.loop(world?.handle, sockets: sockets)
    }

    /// Runs the reactors until `done` returns true for all events so far.
    func run(until done: (_ client: [Event], _ server: [Event]) throws -> Bool) throws {
        // The real reactors wait in short intervals.
        for _ in 0..<100_000 {
            if try done(events.client, events.server) { return }
            if let world {
                let number = try #require(world.next(), "nothing would ever happen")
                if number == 0 { events.client += once(client) } else { events.server += once(server) }
            } else {
                events.client += client.waitOnce(timeout: 100_000, linger: 0, batch: 1, capacity: 64)
                events.server += server.waitOnce(timeout: 100_000, linger: 0, batch: 1, capacity: 64)
            }
        }
        Issue.record("nothing happened within the limit; so far \(events)")
    }

    private func once(_ loop: Loop) -> [Event] {
        loop.waitOnce(timeout: 1_000_000_000, linger: 0, batch: 1, capacity: 64)
    }

    /// Returns both ends of a new connection.
    func connected(context: UInt64 = 0) throws -> (client: UInt64, server: UInt64) {
        let (_, port) = try server.listen()
        let socket = try client.connect(port: port, context: context)
        var accepted: UInt64 = 0
        try run { atClient, atServer in
            accepted = atServer.first { $0.kind == APNS_REACTOR_ACCEPTED }?.socket ?? 0
            return accepted != 0 && atClient.contains { $0.kind == APNS_REACTOR_CONNECTED && $0.error == 0 }
        }
        return (socket, accepted)
    }
}

/// The network and the clock of simulated reactors.
final class World {
    let handle: OpaquePointer

    static func options(seed: UInt64) -> apns_reactor_world_options {
        apns_reactor_world_options(
            seed: seed, start_ns: 1_000_000, delay_us_max: 500, slow: 0, buffer_bytes_min: 1000,
            buffer_bytes_max: 20_000, pieces: 300_000, trace: -1, faults: apns_reactor_world_faults())
    }

    init(seed: UInt64, change: (inout apns_reactor_world_options) -> Void = { _ in }) {
        var options = World.options(seed: seed)
        change(&options)
        handle = apns_reactor_world_create(&options)!
    }

    deinit { apns_reactor_world_destroy(handle) }

    func next() -> UInt32? {
        let number = apns_reactor_world_next(handle)
        return number < 0 ? nil : UInt32(number)
    }

    var now: UInt64 { apns_reactor_world_now_ns(handle) }
    var digest: UInt64 { apns_reactor_world_digest(handle) }
}

extension Loop {
    /// Creates a loop in a simulated world.
    convenience init(world: OpaquePointer, sockets: UInt32 = 16) throws {
        var options = apns_reactor_options(
            backend: 0, sockets_max: sockets, receive_buffer_bytes: 4096, receive_buffer_count: 16)
        var made: OpaquePointer?
        let status = apns_reactor_world_join(world, &options, &made)
        guard status == 0, let made else { throw Refused(code: status) }
        self.init(adopting: made)
    }
}
