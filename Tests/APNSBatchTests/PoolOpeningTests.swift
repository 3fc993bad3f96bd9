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

    @Test("A surplus connection that is closed has not failed")
    func surplus() {
        for isSurplus in [false, true] {
            var members = PoolMembers(count: 2)
            let member = members.open(slot: 0, isSuccessor: false, isFresh: false, now: 0) ?? -1
            members.comeUp(member, now: 1 * ms)
            #expect(members.retire(member, isSurplus: isSurplus) == [.drain(member: member)])
            #expect(members.remove(member).wasOfNoUse(now: 2 * ms) == !isSurplus)
        }
    }

    // MARK: Races

    /// Returns a pool whose first connection races against another address.
    private static func racing(rivalRacesAt: UInt64? = nil) -> ConnectionPool {
        var pool = ConnectionPool(limits: .init(), now: 0)
        #expect(pool.tick(now: 0, answered: 0) == [.open(member: 0)])
        pool.didOpen(0, racesAt: 250 * ms)
        #expect(pool.tick(now: 250 * ms - 1, answered: 0) == [])
        #expect(pool.tick(now: 250 * ms, answered: 0) == [.race(member: 1, against: 0)])
        pool.didOpen(1, racesAt: rivalRacesAt)
        return pool
    }

    @Test("Before any connection came up, address after address joins the race, and the first connection ends it")
    func manyRaces() {
        var pool = Self.racing(rivalRacesAt: 500 * ms)
        #expect(pool.tick(now: 499 * ms, answered: 0) == [])
        #expect(pool.tick(now: 500 * ms, answered: 0) == [.race(member: 2, against: 1)])
        pool.didOpen(2)
        for step in 1...40 { #expect(pool.tick(now: 500 * ms + UInt64(step) * 250 * ms, answered: 0) == []) }
        #expect(pool.members.open == 1, "they count as one")
        pool.isUp(2, streams: 10, now: 11 * seconds)
        #expect(pool.tick(now: 11 * seconds, answered: 0) == [.close(member: 0), .close(member: 1)])
        #expect(pool.pick() == 2)
    }

    @Test("Once connections come up, a connection gets one rival")
    func oneRace() {
        var pool = Self.pool(1)
        #expect(pool.retire(0) == [.drain(member: 0)])
        #expect(pool.tick(now: 1 * seconds, answered: 1) == [.open(member: 1)])
        pool.didOpen(1, racesAt: 1250 * ms)
        #expect(pool.tick(now: 1250 * ms, answered: 1) == [.race(member: 2, against: 1)])
        pool.didOpen(2, racesAt: 1500 * ms)
        for step in 1...20 { #expect(pool.tick(now: 1250 * ms + UInt64(step) * 250 * ms, answered: 1) == []) }
    }

    @Test("A rival without another address leaves the race, and its member gets no other")
    func noRival() {
        var pool = Self.racing()
        pool.notOpened(1, until: 250 * ms)
        for step in 1...20 { #expect(pool.tick(now: 250 * ms + UInt64(step) * 250 * ms, answered: 0) == []) }
        #expect(pool.members.open == 1)
        pool.isUp(0, streams: 10, now: 6 * seconds)
        #expect(pool.tick(now: 6 * seconds, answered: 0) == [])
    }

    @Test("A race of connections with old credentials does not end their successor")
    func raceOfLeaving() {
        var pool = Self.racing()
        #expect(pool.renewAll() == [.drain(member: 1)])
        #expect(pool.tick(now: 300 * ms, answered: 0) == [.open(member: 2)])
        pool.didOpen(2)
        pool.isUp(0, streams: 10, now: 310 * ms)
        #expect(pool.tick(now: 310 * ms, answered: 0) == [])
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
}
