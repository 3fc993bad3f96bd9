import APNSBatchSimulation
import CAPNSTransport

/// A hostile server and a client's transport: in memory, or over sockets.
final class TransportRun {
    private let violation: Violation
    private let place: HostileServer.Place
    private var server: HostileServer
    private let client: Side
    private let connection: UInt64
    /// Runs both sides once; returns false if nothing would ever happen again.
    private var turn: () -> Bool = { false }
    private var hasMore: () -> Bool = { true }
    /// The frames that the server has received.
    private var frames: [Frame] = []
    private var submitted: UInt64 = 0
    private var isDraining = false
    private var isClosed = false

    private static let body = #"{"aps":{"alert":"Hello"}}"#
    private static let limits = Limits(
        connections: 2, streams: 64, requestTimeoutMs: 300_000, connectTimeoutMs: 300_000)

    private init(
        _ violation: Violation, _ place: HostileServer.Place, _ split: HostileServer.Split, _ client: Side, port: UInt16
    ) throws {
        (self.violation, self.place, self.client) = (violation, place, client)
        server = HostileServer(violation, place, split)
        client.define()
        connection = try client.connect(port)
    }

    /// Returns what was expected and is not so, for a conversation over sockets.
    static func findings(
        _ violation: Violation, _ place: HostileServer.Place, _ split: HostileServer.Split, loop: Loop
    ) throws -> [String] {
        var limits = limits
        limits.loop = loop
        let peer = try RawPeer()
        let client = try Side(limits)
        let run = try TransportRun(violation, place, split, client, port: peer.port)
        peer.greet = { [unowned run] in run.server.greet() }
        peer.answer = { [unowned run] in run.take($0) }
        let end = apns_transport_now_ns(client.handle) + 60_000_000_000
        run.turn = {
            peer.step()
            client.poll()
            return apns_transport_now_ns(client.handle) < end
        }
        return run.play()
    }

    /// Returns likewise, for a conversation in memory.
    static func findings(
        _ violation: Violation, _ place: HostileServer.Place, _ split: HostileServer.Split
    ) throws -> [String] {
        let world = SimulatedWorld(seed: 1)
        let connections = Connections()
        let raw = RawServer(world) { _ in connections.connection }
        var number: UInt32 = 0
        let client = try Side(limits) { world.open(&$0, &$1, &number, &$2) }
        let run = try TransportRun(violation, place, split, client, port: raw.port)
        connections.connection = FramedConnection(
            greet: { [unowned run] in run.server.greet() }, take: { [unowned run] in run.take($0) })
        run.turn = {
            guard let next = world.next() else { return false }
            if next == number { client.poll() } else { raw.turn() }
            return true
        }
        return withExtendedLifetime(world) { run.play() }
    }

    private final class Connections {
        var connection = FramedConnection(greet: { [] }, take: { _ in [] })
    }

    private func take(_ frame: Frame) -> [[UInt8]] {
        frames.append(frame)
        return server.take(frame)
    }

    // MARK: The client

    private func play() -> [String] {
        var findings: [String] = []
        while client.down == nil {
            guard turn() else {
                findings.append("it does not end: \(submitted) submitted, \(client.outcomes.count) have ended")
                break
            }
            act()
        }
        return findings + judge()
    }

    /// Begins as many requests as the place needs, two more after the violation, and closes the connection when there is
    /// nothing to wait for.
    private func act() {
        let open = submitted - UInt64(client.outcomes.count)
        let most = UInt64(isDraining || place == .whileDraining ? place.width : place.width + 2)
        if client.isUp, client.down == nil, place != .behindSettings || server.isDone, submitted < most,
            open < place.width
        {
            for _ in 0..<(min(most - submitted, UInt64(place.width) - open)) { submit() }
        }
        if place == .whileDraining, submitted == most, !isDraining {
            isDraining = true
            apns_transport_connection_close(client.handle, connection, APNS_TRANSPORT_CLOSE_DRAIN.rawValue)
        }
        guard server.isDone, submitted == most, !isClosed, isSettled else { return }
        isClosed = true
        apns_transport_connection_close(client.handle, connection, APNS_TRANSPORT_CLOSE_NOW.rawValue)
    }

    private func submit() {
        submitted += 1
        client.submit([Request(ticket: submitted, path: "/\(submitted)", body: Self.body)], on: connection)
    }

    /// Whether no more answers come: one that is spoiled may never end. A connection that must end is awaited.
    private var isSettled: Bool {
        let demand = violation.demand(at: place)
        guard demand != .connectionError else { return false }
        let ended = Set(client.outcomes.map(\.ticket))
        return (1...submitted).allSatisfy {
            ended.contains($0) || demand == .free && violation.effect == .spoils && $0 == target
        }
    }

    /// The ticket of the request whose stream the violation concerns.
    private var target: UInt64? { server.target.map { UInt64($0 + 1) / 2 } }

    private func judge() -> [String] {
        var findings: [String] = []
        func expect(_ holds: Bool, _ text: String) {
            if !holds { findings.append(text) }
        }
        let outcomes = client.outcomes
        expect(server.isDone, "the place was not reached")
        expect(
            outcomes.map(\.ticket).sorted() == Array(1..<(submitted + 1)),
            "the ends are \(outcomes.map(\.ticket)) of \(submitted)")
        expect(client.events(APNS_TRANSPORT_EVENT_DOWN).count == 1, "the connection did not end once")
        let arrived = Set(arrivals())
        // What is above the last stream of GOAWAY was not processed.
        for outcome in outcomes
        where outcome.delivery == APNS_TRANSPORT_NOT_SENT.rawValue
            && outcome.code != Int64(APNS_TRANSPORT_LOCAL_GOAWAY.rawValue)
        {
            expect(!arrived.contains(outcome.ticket), "request \(outcome.ticket) arrived and counts as not sent")
        }
        let answered = Set(
            outcomes.filter { $0.delivery == APNS_TRANSPORT_ANSWERED.rawValue && $0.status == 200 }.map(\.ticket))
        let demand = violation.demand(at: place)
        if demand == .connectionError {
            let isPeers = [APNS_TRANSPORT_SCOPE_SESSION.rawValue, APNS_TRANSPORT_SCOPE_LOCAL.rawValue].contains(
                client.down?.scope)
            expect(isPeers && !isClosed, "the connection ended otherwise: \(client.down as Any)")
        } else if demand != .free {
            let spoiled = violation.effect == .spoils && demand == .streamError ? target : nil
            let refused = place.hasGoaway ? 2 : 0
            expect(
                answered.count + (spoiled == nil ? 0 : 1) + refused == outcomes.count
                    && !answered.contains(spoiled ?? 0),
                "the answered requests are \(answered.sorted()), and the violation is on that of \(spoiled ?? 0)")
        }
        if [.behindLastAnswer, .betweenAnswers, .whileDraining, .behindLastGoaway].contains(place) {
            expect(answered.contains(1), "the first answer is lost")
        }
        return findings
    }

    /// The tickets of the requests that the server received.
    private func arrivals() -> [UInt64] {
        let inflater = Inflater()
        return frames.filter { $0.type == Frame.headers }.compactMap { frame in
            inflater.decode(frame.payload)?.first { $0.name == ":path" }.flatMap { UInt64($0.value.dropFirst()) }
        }
    }
}

/// A connection of a server in memory that takes frames.
final class FramedConnection: RawConnection {
    private let greeting: () -> [[UInt8]]
    private let taken: (Frame) -> [[UInt8]]
    private var prefaceLeft = 24
    private var received: [UInt8] = []

    init(greet: @escaping () -> [[UInt8]], take: @escaping (Frame) -> [[UInt8]]) {
        (greeting, taken) = (greet, take)
    }

    func greet() -> [[UInt8]] { greeting() }

    func take(_ bytes: [UInt8]) -> [[UInt8]] {
        received += bytes
        let preface = min(prefaceLeft, received.count)
        received.removeFirst(preface)
        prefaceLeft -= preface
        var sent: [[UInt8]] = []
        while let frame = Frame.take(from: &received) { sent += taken(frame) }
        return sent
    }
}
