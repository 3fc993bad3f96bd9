import Glibc

@testable import APNSBatchSending

/// A lane with rows without end and a server, as far as a pool of connections sees them: in virtual time, and without
/// bytes. One seed determines all of it.
struct PoolModel {
    /// The median time of an answer in milliseconds at a time in seconds, and the standard deviation of its logarithm.
    var time: (Double) -> Double
    var sigma = 0.0
    /// The number of requests that the server works off per second, one after the other: of all connections, and of each.
    var capacity = Double.infinity
    var capacityOfEach = Double.infinity
    var streams = 100
    var isBusy: (Double) -> Bool = { _ in false }

    private(set) var pool: ConnectionPool
    private(set) var now: UInt64 = 0
    private(set) var answered: UInt64 = 0
    /// The answers, connections and requests in flight, at the end of each second.
    private(set) var seconds: [(answers: Int, up: Int, inFlight: Int)] = []
    private var events = EventHeap()
    private var random: UInt64
    private var freeAt: UInt64 = 0
    private var freeOfEach: [UInt64]
    private var nextTick: UInt64 = 0

    private struct Event {
        var at: UInt64
        var member: Int
        var sentAt: UInt64
        var isAnswer: Bool
    }

    private struct EventHeap {
        var events: [Event] = []
        var first: Event? { events.first }

        mutating func push(_ event: Event) {
            events.append(event)
            var index = events.count - 1
            while index > 0, events[index].at < events[(index - 1) / 2].at {
                events.swapAt(index, (index - 1) / 2)
                index = (index - 1) / 2
            }
        }

        mutating func pop() -> Event {
            events.swapAt(0, events.count - 1)
            let event = events.removeLast()
            var index = 0
            while true {
                var least = index
                for child in [2 * index + 1, 2 * index + 2]
                where child < events.count && events[child].at < events[least].at { least = child }
                guard least != index else { return event }
                events.swapAt(index, least)
                index = least
            }
        }
    }

    init(
        time: @escaping (Double) -> Double, sigma: Double = 0, connections: Int = 32, streams: Int = 100,
        seed: UInt64 = 1
    ) {
        (self.time, self.sigma, self.streams) = (time, sigma, streams)
        var limits = ConnectionPool.Limits()
        (limits.maximum, limits.streams) = (connections, streams)
        pool = ConnectionPool(limits: limits, now: 0)
        freeOfEach = Array(repeating: 0, count: limits.members)
        random = seed &* 0x9E37_79B9_7F4A_7C15
    }

    /// The rate of answers while all streams of all connections are in use and the server is quick enough.
    func most(_ connections: Int = 32) -> Double {
        Double(connections * streams) / (time(1e9) * exp(sigma * sigma / 2)) * 1000
    }

    /// The first second in which at least so many answers came; nil if there was none.
    func second(of answers: Double) -> Int? { seconds.firstIndex { Double($0.answers) >= answers }.map { $0 + 1 } }

    mutating func run(until end: Double) {
        var before = answered
        while Double(now) / 1e9 < end {
            fill()
            now = max(now, min(nextTick, events.first.map { $0.at + 300_000 } ?? .max))
            while let event = events.first, event.at <= now { handle(events.pop()) }
            if now >= nextTick { tick() }
            if now >= UInt64(seconds.count + 1) * 1_000_000_000 {
                seconds.append((Int(answered - before), pool.up, pool.inFlight))
                before = answered
            }
        }
    }

    private mutating func fill() {
        pool.allow(.max, answered: answered)
        while let member = pool.pick() {
            pool.willSend(member)
            let works = max(freeAt, now) + UInt64(1e9 / capacity)
            let worksAlone = max(freeOfEach[member], works) + UInt64(1e9 / capacityOfEach)
            (freeAt, freeOfEach[member]) = (works, worksAlone)
            let takes = UInt64(time(Double(now) / 1e9) * (sigma > 0 ? exp(sigma * normal()) : 1) * 1e6)
            events.push(Event(at: worksAlone + 200_000 + takes, member: member, sentAt: now, isAnswer: true))
        }
    }

    private mutating func handle(_ event: Event) {
        let member = event.member
        guard event.isAnswer else {
            // With a new provider token there is one stream until the first answer.
            if pool.members[member].isConnecting { pool.isUp(member, streams: 1, now: now) }
            return
        }
        pool.didEnd(
            member, answered: true, accepted: true, latency: UInt32((now - event.sentAt) / 1000), now: now)
        answered += 1
        if pool.members[member].answers == 1 { pool.settings(member, streams: streams, now: now) }
        closeIfDrained(member)
    }

    private mutating func closeIfDrained(_ member: Int) {
        guard !pool.members[member].isUp, !pool.members[member].isVacant, pool.members[member].inFlight == 0 else {
            return
        }
        _ = pool.isDown(
            member, failure: ConnectionFailure(isHopeless: false, addresses: 1, text: ""), now: now, jitter: 1)
        freeOfEach[member] = 0
    }

    private mutating func tick() {
        nextTick = now + 5_000_000
        for action in pool.tick(now: now, answered: answered, isBusy: isBusy(Double(now) / 1e9), hadAnswers: true) {
            switch action {
            case .open(let member):
                events.push(Event(at: now + 2_000_000, member: member, sentAt: now, isAnswer: false))
            case .drain(let member), .replace(let member, _): closeIfDrained(member)
            case .ping(let member): pool.ponged(member, now: now)
            case .race, .close, .giveUp: break
            }
        }
    }

    private mutating func unit() -> Double {
        random &+= 0x9E37_79B9_7F4A_7C15
        var value = random
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return Double((value ^ value >> 31) >> 11) / 0x1p53
    }

    private mutating func normal() -> Double {
        let (radius, angle) = (unit(), unit())
        return (-2 * log(1 - radius)).squareRoot() * cos(2 * .pi * angle)
    }
}
