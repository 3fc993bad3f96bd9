import Testing

@testable import APNSBatch

private let ms: UInt64 = 1_000_000
private let seconds: UInt64 = 1_000_000_000

@Suite("Connections that are opened") struct PoolOpeningTests {
    /// Connections that are up and have answered once each.
    private static func pool(_ count: Int) -> ConnectionPool {
        var limits = ConnectionPool.Limits()
        limits.maximum = count
        var pool = ConnectionPool(limits: limits, now: 0)
        pool.target = count
        for member in 0..<count {
            let now = UInt64(member) * limits.openSpacing
            #expect(pool.tick(now: now, answered: 0) == [.open(member: member)])
            pool.isUp(member, streams: 100, now: now)
            pool.willSend(member)
            pool.didEnd(member, answered: true, accepted: true, now: now)
        }
        return pool
    }

    private static let failure = ConnectionFailure(isHopeless: false, addresses: 1, text: "refused")

    // MARK: Places

    @Test("a place whose connections fail waits by itself, and holds up no other")
    func placesAlone() {
        var pool = Self.pool(3)
        for member in [1, 2] { #expect(pool.isDown(member, failure: Self.failure, now: 1 * seconds, jitter: 1) == []) }
        #expect(pool.tick(now: 1 * seconds, answered: 3) == [.open(member: 1)])
        #expect(pool.isDown(1, failure: Self.failure, now: 1010 * ms, jitter: 1) == [])
        #expect(pool.tick(now: 1049 * ms, answered: 3) == [], "opens are spaced")
        #expect(pool.tick(now: 1050 * ms, answered: 3) == [.open(member: 1)], "the third place, and not the second")
        #expect(pool.members[1].slot == 2)
        #expect(pool.tick(now: 1259 * ms, answered: 3) == [])
        #expect(pool.tick(now: 1260 * ms, answered: 3) == [.open(member: 2)])
        #expect(pool.members[2].slot == 1)
        #expect(pool.isDown(2, failure: Self.failure, now: 1300 * ms, jitter: 1) == [])
        #expect(pool.tick(now: 1799 * ms, answered: 3) == [], "twice as long the second time")
        #expect(pool.tick(now: 1800 * ms, answered: 3) == [.open(member: 2)])
    }

    @Test("jitter takes up to half of a pause")
    func jitter() {
        var pool = Self.pool(1)
        _ = pool.isDown(0, failure: Self.failure, now: 1 * seconds, jitter: 1)
        #expect(pool.tick(now: 1 * seconds, answered: 1) == [.open(member: 0)])
        _ = pool.isDown(0, failure: Self.failure, now: 2 * seconds, jitter: 0)
        #expect(pool.tick(now: 2 * seconds + 124 * ms, answered: 1) == [])
        #expect(pool.tick(now: 2 * seconds + 125 * ms, answered: 1) == [.open(member: 0)])
    }

    // MARK: Races

    /// A pool whose first connection has another family to race against.
    private static func racing() -> ConnectionPool {
        var pool = ConnectionPool(limits: .init(), now: 0)
        #expect(pool.tick(now: 0, answered: 0) == [.open(member: 0)])
        pool.didOpen(0, connection: 1, tokenExpiresAt: nil, racesAt: 250 * ms)
        #expect(pool.tick(now: 250 * ms - 1, answered: 0) == [])
        #expect(pool.tick(now: 250 * ms, answered: 0) == [.race(member: 1, against: 0)])
        pool.didOpen(1, connection: 2, tokenExpiresAt: nil, racesAt: 500 * ms)
        return pool
    }

    @Test("a connection that takes long gets one rival, and who is up first stays", arguments: [0, 1])
    func race(winner: Int) {
        var pool = Self.racing()
        pool.isUp(winner, streams: 10, now: 300 * ms)
        #expect(pool.tick(now: 300 * ms, answered: 0) == [.close(member: 1 - winner)])
        #expect(pool.pick() == winner)
        #expect(pool.isDown(1 - winner, failure: Self.failure, now: 310 * ms, jitter: 1) == [])
        #expect(pool.tick(now: 1 * seconds, answered: 0) == [])
        #expect(pool.slots[0] == ConnectionPool.Slot(), "to lose is no failure")
    }

    @Test("when both came up at once, one of them drains")
    func draw() {
        var pool = Self.racing()
        for member in [0, 1] { pool.isUp(member, streams: 10, now: 300 * ms) }
        #expect(pool.tick(now: 300 * ms, answered: 0) == [.drain(member: 1)])
    }

    @Test("one that fails leaves the race to the other, also where trying again cannot help", arguments: [0, 1])
    func raceOfOne(failing: Int) {
        var pool = Self.racing()
        let failure = ConnectionFailure(isHopeless: true, addresses: 2, text: "untrusted")
        #expect(pool.isDown(failing, failure: failure, now: 300 * ms, jitter: 1) == [])
        #expect(pool.tick(now: 400 * ms, answered: 0) == [])
        #expect(pool.isDown(1 - failing, failure: failure, now: 400 * ms, jitter: 1) == [.giveUp("untrusted")])
    }

    // MARK: Size

    @Test("a doubling that was of no use at all is taken back, and tried again later and later")
    func shrinks() {
        var limits = ConnectionPool.Limits()
        (limits.maximum, limits.pingAfter, limits.pingIdleAfter) = (4, 1 << 62, 1 << 62)
        var pool = ConnectionPool(limits: limits, now: 0)
        var opens: [UInt64] = []
        var drains = 0
        for step in 0..<4000 {
            let now = UInt64(step) * 10 * ms
            for action in pool.tick(now: now, answered: UInt64(step)) {
                switch action {
                case .open(let member):
                    opens.append(now / seconds)
                    pool.isUp(member, streams: 1, now: now)
                    pool.willSend(member)
                case .drain(let member):
                    drains += 1
                    pool.didEnd(member, answered: true, now: now)
                    _ = pool.isDown(member, failure: Self.failure, now: now, jitter: 1)
                default: Issue.record("did not expect \(action)")
                }
            }
            for member in pool.members.indices where pool.members[member].phase == .up {
                pool.didEnd(member, answered: true, now: now)
                pool.willSend(member)
            }
            _ = pool.pick()
        }
        #expect(opens == [0, 0, 10, 31] && drains == 3, "\(opens), \(drains)")
        #expect(pool.up == 1)
    }
}

@Suite("Pace of requests") struct StreamPaceTests {
    /// One interval of 100 ms.
    private static func interval(
        _ pace: inout StreamPace, _ number: Int, answers: Int = 100, pushbacks: Int = 0, latency: UInt32 = 1000,
        isLimiting: Bool = true
    ) {
        for answer in 0..<answers { pace.note(latency: latency, isPushback: answer < pushbacks) }
        pace.isLimiting = isLimiting
        pace.adjust(now: UInt64(number) * 100 * ms, streams: 1000)
    }

    @Test("without pushback there is no limit, and a few that concern one device are none")
    func free() {
        var pace = StreamPace(start: 0)
        for number in 1...10 { Self.interval(&pace, number, pushbacks: 4) }
        #expect(pace.allowed == .max)
    }

    @Test("halves while the server pushes back, down to one, and rises by a little while all are in use")
    func halves() {
        var pace = StreamPace(start: 0)
        var seen: [Int] = []
        for number in 1...12 {
            Self.interval(&pace, number, pushbacks: 5)
            seen.append(pace.allowed)
        }
        #expect(seen == [500, 250, 125, 62, 31, 15, 7, 3, 1, 1, 1, 1])
        Self.interval(&pace, 13, isLimiting: false)
        #expect(pace.allowed == 1)
        Self.interval(&pace, 14)
        #expect(pace.allowed == 32)
        for number in 15...46 { Self.interval(&pace, number) }
        #expect(pace.allowed == .max)
    }

    @Test("answers that come later and are fewer take a quarter, but late ones alone nothing")
    func late() {
        var pace = StreamPace(start: 0)
        for number in 1...5 { Self.interval(&pace, number) }
        for number in 6...10 { Self.interval(&pace, number, latency: 300_000) }
        #expect(pace.allowed == .max, "as many as before")
        Self.interval(&pace, 11, answers: 50, latency: 300_000)
        #expect(pace.allowed == .max, "once may be an accident")
        Self.interval(&pace, 12, answers: 50, latency: 300_000)
        #expect(pace.allowed == 750)
        for number in 13...30 { Self.interval(&pace, number, answers: 30, latency: 400_000) }
        #expect(pace.allowed >= 125)
    }

    @Test("too few answers say nothing until a second has gone by")
    func few() {
        var pace = StreamPace(start: 0)
        for number in 1...9 {
            pace.note(latency: 1000, isPushback: true)
            pace.adjust(now: UInt64(number) * 100 * ms, streams: 1000)
        }
        #expect(pace.allowed == .max)
        pace.adjust(now: 1 * seconds, streams: 1000)
        #expect(pace.allowed == 500)
    }

    @Test("a pool gives out no more streams than its pace allows, and does not grow for want of them")
    func pool() {
        var pool = ConnectionPool(limits: .init(), now: 0)
        _ = pool.tick(now: 0, answered: 0)
        pool.isUp(0, streams: 8, now: 0)
        for _ in 0..<20 {
            pool.willSend(0)
            pool.didEnd(0, answered: true, isPushback: true, now: 0)
        }
        #expect(pool.tick(now: 100 * ms, answered: 20) == [])
        for _ in 0..<4 {
            #expect(pool.pick() == 0 && pool.hasStream)
            pool.willSend(0)
        }
        #expect(pool.pick() == nil && !pool.hasStream)
        #expect(!pool.growth.starved)
    }
}
