import Testing

@testable import APNSBatchModel
@testable import APNSBatchSending

private let ms: UInt64 = 1_000_000
private let seconds: UInt64 = 1_000_000_000

@Suite("Opening connections") struct PoolOpeningTests {
    /// Returns a pool of connections that are up and have answered once each.
    private static func pool(_ count: Int) -> ConnectionPool {
        var limits = ConnectionPool.Limits()
        limits.maximum = count
        var pool = ConnectionPool(limits: limits, target: count, now: 0)
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

    // MARK: Slots

    @Test("A slot whose connections fail backs off without delaying others")
    func placesAlone() {
        var pool = Self.pool(3)
        for member in [1, 2] { #expect(pool.isDown(member, failure: Self.failure, now: 3 * seconds, jitter: 1) == []) }
        #expect(pool.tick(now: 3 * seconds, answered: 3) == [.open(member: 1)])
        #expect(pool.isDown(1, failure: Self.failure, now: 3010 * ms, jitter: 1) == [])
        #expect(pool.tick(now: 3049 * ms, answered: 3) == [], "opens are spaced")
        #expect(pool.tick(now: 3050 * ms, answered: 3) == [.open(member: 1)], "the third slot, and not the second")
        #expect(pool.members[1].slot == 2)
        #expect(pool.tick(now: 3259 * ms, answered: 3) == [])
        #expect(pool.tick(now: 3260 * ms, answered: 3) == [.open(member: 2)])
        #expect(pool.members[2].slot == 1)
        #expect(pool.isDown(2, failure: Self.failure, now: 3300 * ms, jitter: 1) == [])
        #expect(pool.tick(now: 3799 * ms, answered: 3) == [], "twice as long the second time")
        #expect(pool.tick(now: 3800 * ms, answered: 3) == [.open(member: 2)])
    }

    @Test("Jitter takes up to half of a pause")
    func jitter() {
        var pool = Self.pool(1)
        _ = pool.isDown(0, failure: Self.failure, now: 1 * seconds, jitter: 1)
        #expect(pool.tick(now: 1 * seconds, answered: 1) == [.open(member: 0)])
        _ = pool.isDown(0, failure: Self.failure, now: 2 * seconds, jitter: 0)
        #expect(pool.tick(now: 2 * seconds + 124 * ms, answered: 1) == [])
        #expect(pool.tick(now: 2 * seconds + 125 * ms, answered: 1) == [.open(member: 0)])
    }

    // MARK: Races

    /// Returns a pool whose first connection can race against an address of the other family.
    private static func racing() -> ConnectionPool {
        var pool = ConnectionPool(limits: .init(), now: 0)
        #expect(pool.tick(now: 0, answered: 0) == [.open(member: 0)])
        pool.didOpen(0, racesAt: 250 * ms)
        #expect(pool.tick(now: 250 * ms - 1, answered: 0) == [])
        #expect(pool.tick(now: 250 * ms, answered: 0) == [.race(member: 1, against: 0)])
        pool.didOpen(1, racesAt: 500 * ms)
        return pool
    }

    @Test("A rival gets no rival, and a connection gets only one")
    func oneRace() {
        var pool = Self.racing()
        #expect(pool.members[1].connecting?.racesAt == nil)
        for step in 1...40 { #expect(pool.tick(now: 250 * ms + UInt64(step) * 250 * ms, answered: 0) == []) }
        pool.isUp(0, streams: 10, now: 11 * seconds)
        #expect(pool.tick(now: 11 * seconds, answered: 0) == [.close(member: 1)])
    }

    @Test("A rival continues alone when the other attempt failed")
    func raceAgain() {
        var pool = Self.racing()
        #expect(pool.isDown(0, failure: Self.failure, now: 300 * ms, jitter: 1) == [])
        for step in 1...40 { #expect(pool.tick(now: 300 * ms + UInt64(step) * 250 * ms, answered: 0) == []) }
        pool.isUp(1, streams: 10, now: 11 * seconds)
        #expect(pool.tick(now: 11 * seconds, answered: 0) == [])
        #expect(pool.pick() == 1)
    }

    @Test("A slow connection gets one rival, and the first one up stays", arguments: [0, 1])
    func race(winner: Int) {
        var pool = Self.racing()
        pool.isUp(winner, streams: 10, now: 300 * ms)
        #expect(pool.tick(now: 300 * ms, answered: 0) == [.close(member: 1 - winner)])
        #expect(pool.pick() == winner)
        #expect(pool.isDown(1 - winner, failure: Self.failure, now: 310 * ms, jitter: 1) == [])
        #expect(pool.tick(now: 1 * seconds, answered: 0) == [])
        #expect(!pool.slots.haveFailures, "to lose is no failure")
    }

    @Test("When both connections come up at once, one of them drains")
    func draw() {
        var pool = Self.racing()
        for member in [0, 1] { pool.isUp(member, streams: 10, now: 300 * ms) }
        #expect(pool.tick(now: 300 * ms, answered: 0) == [.drain(member: 1)])
    }

    @Test("When one attempt fails the other continues, also after a permanent failure", arguments: [0, 1])
    func raceOfOne(failing: Int) {
        var pool = Self.racing()
        let failure = ConnectionFailure(isHopeless: true, addresses: 2, text: "untrusted")
        #expect(pool.isDown(failing, failure: failure, now: 300 * ms, jitter: 1) == [])
        #expect(pool.tick(now: 400 * ms, answered: 0) == [])
        #expect(pool.isDown(1 - failing, failure: failure, now: 400 * ms, jitter: 1) == [.giveUp("untrusted")])
    }

    // MARK: Size

    @Test("Useless growth is reverted and tried again at growing intervals")
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
            for member in pool.members.indices where pool.members[member].isUp {
                pool.didEnd(member, answered: true, now: now)
                pool.willSend(member)
            }
            _ = pool.pick()
        }
        #expect(opens == [0, 0, 10, 31] && drains == 3, "\(opens), \(drains)")
        #expect(pool.up == 1)
    }

    @Test("A surplus connection that is closed does not count as failed")
    func surplus() {
        var limits = ConnectionPool.Limits()
        (limits.maximum, limits.pingAfter, limits.pingIdleAfter) = (4, 1 << 62, 1 << 62)
        var pool = ConnectionPool(limits: limits, now: 0)
        var drains = 0
        for step in 0..<4000 {
            let now = UInt64(step) * 10 * ms
            for action in pool.tick(now: now, answered: UInt64(step)) {
                switch action {
                case .open(let member):
                    pool.isUp(member, streams: 1, now: now)
                    pool.willSend(member)
                case .drain(let member):
                    drains += 1
                    pool.didEnd(member, answered: false, now: now)
                    #expect(pool.isDown(member, failure: Self.failure, now: now, jitter: 1) == [])
                default: Issue.record("did not expect \(action)")
                }
            }
            pool.didEnd(0, answered: true, now: now)
            pool.willSend(0)
            _ = pool.pick()
        }
        #expect(drains > 0)
        #expect(pool.lastFailure == nil && !pool.slots.haveFailures)
    }
}
