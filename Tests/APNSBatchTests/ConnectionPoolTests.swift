import Testing

@testable import APNSBatchModel
@testable import APNSBatchSending

private let ms: UInt64 = 1_000_000
private let seconds: UInt64 = 1_000_000_000

@Suite("Connection pool") struct ConnectionPoolTests {
    private static func pool(maximum: Int = 8) -> ConnectionPool {
        var limits = ConnectionPool.Limits()
        limits.maximum = maximum
        // PINGs have their own tests.
        (limits.pingAfter, limits.pingIdleAfter) = (1 << 62, 1 << 62)
        return ConnectionPool(limits: limits, now: 0)
    }

    private static func failure(hopeless: Bool = false, addresses: Int = 1) -> ConnectionFailure {
        ConnectionFailure(isHopeless: hopeless, addresses: addresses, text: "refused")
    }

    /// Returns a pool whose first connection is up and allows `streams` streams.
    private static func poolWithOne(streams: Int = 1000, maximum: Int = 8) -> ConnectionPool {
        var pool = pool(maximum: maximum)
        #expect(pool.tick(now: 0, answered: 0) == [.open(member: 0)])
        pool.didOpen(0)
        pool.isUp(0, streams: streams, now: 1)
        return pool
    }

    @Test("A pool starts with one connection and opens no second before the first is up")
    func startsWithOne() {
        var pool = Self.pool()
        #expect(pool.tick(now: 0, answered: 0) == [.open(member: 0)])
        #expect(pool.tick(now: 1 * seconds, answered: 0) == [])
    }

    @Test("No more streams are used than the peer allows, and none before the connection is up")
    func respectsTheLimit() {
        var pool = Self.pool()
        _ = pool.tick(now: 0, answered: 0)
        #expect(pool.pick() == nil)
        pool.isUp(0, streams: 1, now: 1)
        #expect(pool.pick() == 0)
        pool.willSend(0)
        #expect(pool.pick() == nil)
        pool.settings(0, streams: 1000, now: 1)
        #expect(pool.pick() == 0)
        pool.didEnd(0, answered: true, now: 1)
        pool.settings(0, streams: 0, now: 1)
        #expect(pool.pick() == nil)
    }

    @Test("A connection never uses more streams than our own limit")
    func ownLimit() {
        for (announced, expected) in [(1500, 1000), (Int(UInt32.max), 100)] {
            var pool = Self.poolWithOne(streams: announced)
            var sent = 0
            while let member = pool.pick(), sent < 5000 {
                pool.willSend(member)
                sent += 1
            }
            #expect(sent == expected)
            #expect(pool.growth.starved, "and more connections are what it grows by")
        }
    }

    @Test("The displayed streams are never fewer than those in use nor more than the limit")
    func shown() {
        var pool = Self.poolWithOne(streams: 5000)
        for _ in 0..<10 { pool.willSend(0) }
        #expect(pool.members.streamsShown == 1000)
        pool.settings(0, streams: 4, now: 1)
        #expect(pool.members.streamsShown == 10 && pool.inFlight == 10)
        _ = pool.goaway(0, now: 2)
        _ = pool.tick(now: 50 * ms, answered: 0)
        pool.isUp(1, streams: 3, now: 60 * ms)
        #expect(pool.members.streamsShown == 13 && pool.inFlight == 10, "on one that drains they are still in use")
    }

    @Test("No stream is given out while more are in flight than a lowered limit allows")
    func limitFalls() {
        var pool = Self.poolWithOne(streams: 10)
        for _ in 0..<5 { pool.willSend(0) }
        pool.settings(0, streams: 4, now: 1)
        #expect(pool.pick() == nil)
        pool.didEnd(0, answered: true, now: 1)
        #expect(pool.pick() == nil)
        pool.didEnd(0, answered: true, now: 1)
        #expect(pool.pick() == 0)
    }

    /// Lets a pool of connections with one stream each answer every 50 ms, each after `latency` milliseconds, which depends on
    /// the number of connections, and returns the times of its actions in milliseconds.
    private static func ticks(
        _ pool: inout ConnectionPool, _ steps: ClosedRange<UInt64>, isBusy: Bool = false, hanging: Set<Int> = [],
        latency: (Int) -> UInt32
    ) -> [(UInt64, ConnectionPool.Action)] {
        var actions: [(UInt64, ConnectionPool.Action)] = []
        for step in steps {
            let now = step * 50 * ms
            for member in pool.members.indices where pool.members[member].isUp || pool.members[member].inFlight > 0 {
                if pool.members[member].inFlight > 0 {
                    pool.didEnd(member, answered: true, latency: latency(pool.up) * 1000, now: now)
                }
                if pool.members[member].isUp { pool.willSend(member) }
            }
            #expect(pool.pick() == nil)
            for action in pool.tick(now: now, answered: step, isBusy: isBusy) {
                actions.append((step * 50, action))
                switch action {
                case .open(let member): if !hanging.contains(member) { pool.isUp(member, streams: 1, now: now) }
                case .drain(let member):
                    pool.didEnd(member, answered: false, now: now)
                    #expect(pool.isDown(member, failure: failure(), now: now, jitter: 1) == [])
                default: Issue.record("did not expect \(action)")
                }
            }
        }
        return actions
    }

    @Test("The pool doubles while all streams are in use and answers are as quick as before, with spacing")
    func doubles() {
        var pool = Self.poolWithOne(streams: 1)
        pool.willSend(0)
        let actions = Self.ticks(&pool, 1...60) { _ in 100 }
        #expect(actions.map(\.1) == (1...7).map { .open(member: $0) })
        let times = actions.map(\.0)
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= 50 }, "\(times)")
        #expect(pool.up == 8 && times.last.map { $0 <= 1500 } == true)
    }

    @Test("A connection that does not come up holds up no doubling for more than a few seconds")
    func doublesBesideOneThatHangs() {
        var pool = Self.poolWithOne(streams: 1)
        pool.willSend(0)
        _ = Self.ticks(&pool, 1...200, hanging: [3]) { _ in 100 }
        #expect(pool.up == 7)
    }

    @Test("The pool stops growing when growth did not help, and a surplus connection that is closed has not failed")
    func stopsGrowing() {
        var pool = Self.poolWithOne(streams: 1)
        pool.willSend(0)
        let actions = Self.ticks(&pool, 1...600) { UInt32(100 * $0) }
        #expect(pool.up <= 2 && actions.count { $0.0 > 10_000 } <= 12, "\(actions)")
        #expect(actions.contains { if case .drain = $0.1 { true } else { false } })
        #expect(pool.lastFailure == nil && !pool.slots.haveFailures)
    }

    @Test("A pool does not grow while the sender is busy, and grows afterwards")
    func busy() {
        var pool = Self.poolWithOne(streams: 1)
        pool.willSend(0)
        #expect(Self.ticks(&pool, 1...40, isBusy: true) { _ in 100 }.isEmpty)
        #expect(Self.ticks(&pool, 41...50) { _ in 100 }.first?.1 == .open(member: 1))
    }

    @Test("Growth that made the sender busy is not reverted")
    func busyAfterGrowth() {
        var pool = Self.poolWithOne(streams: 1)
        pool.willSend(0)
        #expect(Self.ticks(&pool, 1...6) { _ in 100 }.count >= 1)
        let target = pool.growth.target
        _ = Self.ticks(&pool, 7...20, isBusy: true) { _ in 150 }
        #expect(pool.growth.target == target)
        _ = Self.ticks(&pool, 21...100) { _ in 150 }
        #expect(pool.growth.target >= target)
    }

    @Test("The next address is tried at once, and the pool backs off after all of them failed")
    func backsOff() {
        var pool = Self.pool()
        #expect(pool.tick(now: 0, answered: 0) == [.open(member: 0)])
        #expect(pool.isDown(0, failure: Self.failure(addresses: 2), now: 1 * ms, jitter: 1) == [])
        #expect(pool.tick(now: 49 * ms, answered: 0) == [], "opens are spaced")
        #expect(pool.tick(now: 50 * ms, answered: 0) == [.open(member: 0)])
        #expect(pool.isDown(0, failure: Self.failure(addresses: 2), now: 51 * ms, jitter: 1) == [])
        #expect(pool.tick(now: 300 * ms, answered: 0) == [])
        #expect(pool.tick(now: 301 * ms, answered: 0) == [.open(member: 0)])
    }

    @Test("A connection that could not take a request is skipped for a while")
    func holds() {
        var pool = Self.poolWithOne()
        pool.hold(0, until: 5 * ms)
        #expect(pool.pick() == nil)
        _ = pool.tick(now: 5 * ms, answered: 0)
        #expect(pool.pick() == 0)
    }

    @Test("The pool gives up when the server never allows a stream")
    func noStreams() {
        var pool = Self.poolWithOne(streams: 0)
        let actions = (1...61).flatMap { pool.tick(now: UInt64($0) * seconds, answered: 0) }
        #expect(actions.contains { if case .giveUp = $0 { true } else { false } })
    }

    @Test("The pool gives up at once on a permanent failure, and after its patience otherwise")
    func givesUp() {
        var hopeless = Self.pool()
        _ = hopeless.tick(now: 0, answered: 0)
        let failure = Self.failure(hopeless: true)
        #expect(hopeless.isDown(0, failure: failure, now: 1, jitter: 0) == [.giveUp("refused")])
        #expect(hopeless.tick(now: 10 * seconds, answered: 0) == [])

        var patient = Self.pool()
        _ = patient.tick(now: 0, answered: 0)
        _ = patient.isDown(0, failure: Self.failure(), now: 1, jitter: 0)
        #expect(Self.minute(&patient).last == .giveUp("no connection for 60 seconds: refused"))
    }

    /// Returns the actions of a pool during a minute in which no connection is established.
    private static func minute(_ pool: inout ConnectionPool, others: Bool = false) -> [ConnectionPool.Action] {
        (1...61).flatMap { pool.tick(now: UInt64($0) * seconds, answered: 0, othersAnswer: others) }
    }

    @Test("The deadlines of connections are extended after the process stood still for a minute")
    func standstill() {
        var pool = Self.pool()
        #expect(pool.tick(now: 0, answered: 0) == [.open(member: 0)])
        #expect(pool.tick(now: 90 * seconds, answered: 0) == [])
        var busy = Self.poolWithOne()
        busy.willSend(0)
        busy.didEnd(0, answered: true, now: 0)
        busy.willSend(0)
        #expect(busy.tick(now: 90 * seconds, answered: 1) == [])
        #expect(busy.tick(now: 91 * seconds, answered: 1) == [])
    }

    @Test("A pool without a connection does not end the run while other pools have answers")
    func othersAnswer() {
        var pool = Self.pool()
        #expect(Self.minute(&pool, others: true) == [.open(member: 0)])
        #expect(pool.tick(now: 62 * seconds, answered: 0) == [.giveUp("no connection for 60 seconds")])
    }

    @Test("Waiting for a provider token does not count as a failure")
    func waitsForToken() {
        var pool = Self.pool()
        #expect(pool.tick(now: 0, answered: 0) == [.open(member: 0)])
        pool.notAllowed(0, until: 1200 * seconds)
        for second in 1...1199 { #expect(pool.tick(now: UInt64(second) * seconds, answered: 0) == []) }
        #expect(pool.tick(now: 1200 * seconds, answered: 0) == [.open(member: 0)])
        #expect(pool.tick(now: 1201 * seconds, answered: 0) == [])
    }

    @Test("A permanent failure ends the run only after all addresses failed")
    func hopelessEverywhere() {
        var pool = Self.pool()
        let failure = Self.failure(hopeless: true, addresses: 2)
        _ = pool.tick(now: 0, answered: 0)
        #expect(pool.isDown(0, failure: failure, now: 1 * ms, jitter: 1) == [])
        #expect(pool.tick(now: 50 * ms, answered: 0) == [.open(member: 0)])
        #expect(pool.isDown(0, failure: failure, now: 51 * ms, jitter: 1) == [.giveUp("refused")])
    }

    @Test("A server that closes each connection after one answer is retried once a second in the end")
    func fleeting() {
        var pool = Self.pool()
        var opens = 0
        for step in 0..<60_000 {
            let now = UInt64(step) * ms
            for action in pool.tick(now: now, answered: UInt64(opens)) {
                guard case .open(let member) = action else {
                    Issue.record("did not expect \(action)")
                    return
                }
                opens += 1
                pool.isUp(member, streams: 100, now: now)
                for _ in 0..<2 { pool.willSend(member) }
                pool.didEnd(member, answered: true, accepted: true, now: now)
                #expect(pool.tick(now: now, answered: UInt64(opens)) == [])
                pool.didEnd(member, answered: false, now: now)
                _ = pool.isDown(member, failure: Self.failure(), now: now, jitter: 1)
            }
        }
        #expect((60...66).contains(opens), "found \(opens) in a minute")
    }

    @Test("A server that closes connections after many answers is reconnected at once")
    func shortLived() {
        var pool = Self.poolWithOne()
        for _ in 0..<100 {
            pool.willSend(0)
            pool.didEnd(0, answered: true, now: 60 * ms)
        }
        #expect(pool.isDown(0, failure: Self.failure(), now: 60 * ms, jitter: 1) == [])
        #expect(pool.tick(now: 60 * ms, answered: 100) == [.open(member: 0)])
    }

    @Test(
        "A server that closes each connection before an answer causes back-off, and then the end")
    func flapping() {
        var pool = Self.pool()
        var opens = 0
        for step in 0..<70_000 {
            let now = UInt64(step) * ms
            for action in pool.tick(now: now, answered: 0) {
                guard case .open(let member) = action else {
                    #expect(action == .giveUp("no connection for 60 seconds: refused"))
                    #expect(opens < 20)
                    return
                }
                opens += 1
                pool.isUp(member, streams: 1, now: now)
                #expect(pool.tick(now: now, answered: 0) == [])
                pool.willSend(member)
                pool.didEnd(member, answered: false, now: now)
                _ = pool.isDown(member, failure: Self.failure(), now: now, jitter: 1)
            }
        }
        Issue.record("expected it to give up")
    }

    @Test("A connection that fails after an answer does not end the run, whatever the cause")
    func survivesLaterFailures() {
        var pool = Self.poolWithOne()
        pool.willSend(0)
        pool.didEnd(0, answered: true, now: 1)
        #expect(pool.isDown(0, failure: Self.failure(hopeless: true), now: 2 * seconds, jitter: 0) == [])
        #expect(pool.tick(now: 2 * seconds, answered: 0) == [.open(member: 0)])
    }

    @Test("After GOAWAY a connection gets no new request and is replaced")
    func replacesAfterGoaway() {
        var pool = Self.poolWithOne()
        pool.willSend(0)
        #expect(pool.retire(0) == [.drain(member: 0)])
        #expect(pool.retire(0) == [])
        #expect(pool.pick() == nil)
        #expect(pool.tick(now: 1 * seconds, answered: 0) == [.open(member: 1)])
    }

    @Test("A connection whose provider token is too old is replaced")
    func replacesOldToken() {
        var pool = Self.pool()
        _ = pool.tick(now: 0, answered: 0)
        pool.didOpen(0, tokenExpiresAt: 100 * seconds)
        pool.isUp(0, streams: 10, now: 1)
        #expect(pool.tick(now: 99 * seconds, answered: 0) == [])
        #expect(
            pool.tick(now: 100 * seconds, answered: 0) == [.drain(member: 0), .open(member: 1)])
    }

    // MARK: Successors

    @Test("A connection with an ageing token stays in use until its successor has answered")
    func succession() {
        var pool = Self.pool()
        _ = pool.tick(now: 0, answered: 0)
        pool.didOpen(0, tokenExpiresAt: 130 * seconds, successorDueAt: 100 * seconds)
        pool.isUp(0, streams: 10, now: 1)
        #expect(pool.tick(now: 99 * seconds, answered: 0) == [])
        #expect(pool.tick(now: 100 * seconds, answered: 0) == [.open(member: 1)])
        #expect(pool.pick() == 0, "nothing stands still while the successor comes up")
        #expect(pool.tick(now: 101 * seconds, answered: 0) == [], "one successor is enough")

        pool.didOpen(1, tokenExpiresAt: 300 * seconds, successorDueAt: 270 * seconds)
        pool.isUp(1, streams: 1, now: 101 * seconds)
        #expect(pool.pick() == 1, "the successor goes first")
        pool.willSend(1)
        #expect(pool.pick() == 0, "it has one stream until its token was found valid")
        #expect(pool.tick(now: 101 * seconds, answered: 0) == [])
        pool.didEnd(1, answered: true, now: 101 * seconds)
        #expect(pool.tick(now: 101 * seconds, answered: 1) == [.drain(member: 0)])
        #expect(pool.tick(now: 102 * seconds, answered: 1) == [])
    }

    @Test("A successor without requests takes over after a second")
    func idleSuccession() {
        var pool = Self.poolWithOne()
        _ = pool.renewAll()
        #expect(pool.tick(now: 1 * seconds, answered: 0) == [.open(member: 1)])
        pool.isUp(1, streams: 1, now: 2 * seconds)
        #expect(pool.tick(now: 2900 * ms, answered: 0) == [])
        #expect(pool.tick(now: 3 * seconds, answered: 0) == [.drain(member: 0)])
    }

    @Test("A connection without a successor ends when its token is too old")
    func tooLateForSuccession() {
        var pool = Self.pool()
        _ = pool.tick(now: 0, answered: 0)
        pool.didOpen(0, tokenExpiresAt: 130 * seconds, successorDueAt: 100 * seconds)
        pool.isUp(0, streams: 10, now: 1)
        #expect(pool.tick(now: 100 * seconds, answered: 0) == [.open(member: 1)])
        #expect(pool.tick(now: 130 * seconds, answered: 0) == [.drain(member: 0)])
        #expect(pool.pick() == nil)
    }

    /// Returns a pool that has grown to two connections, both of which are up and have answered once.
    private static func poolWithTwo() -> ConnectionPool {
        var pool = poolWithOne(streams: 1, maximum: 2)
        pool.willSend(0)
        pool.didEnd(0, answered: true, latency: 1000, now: 10 * ms)
        pool.willSend(0)
        _ = pool.pick()
        #expect(pool.tick(now: 300 * ms, answered: 1) == [.open(member: 1)])
        pool.isUp(1, streams: 1, now: 310 * ms)
        pool.willSend(1)
        for member in [0, 1] { pool.didEnd(member, answered: true, now: 320 * ms) }
        return pool
    }

    @Test("With new credentials every connection gets a successor, and there are never fewer than before")
    func renewsAll() {
        var pool = Self.poolWithTwo()
        _ = pool.renewAll()
        var actions: [ConnectionPool.Action] = []
        for step in 1...100 {
            let now = 1 * seconds + UInt64(step) * 10 * ms
            for action in pool.tick(now: now, answered: 200) {
                actions.append(action)
                switch action {
                case .open(let member):
                    pool.isUp(member, streams: 1, now: now)
                    pool.willSend(member)
                    pool.didEnd(member, answered: true, now: now)
                case .drain(let member):
                    _ = pool.isDown(member, failure: Self.failure(), now: now, jitter: 1)
                case .race, .replace, .close, .ping, .giveUp: break
                }
                #expect(pool.up >= 2)
            }
        }
        #expect(
            actions == [
                .open(member: 2), .drain(member: 0), .open(member: 0), .drain(member: 1),
            ])
    }

    @Test("Connections with old credentials stay while new ones fail with growing spacing")
    func keepsOldWhileNewFail() {
        var pool = Self.poolWithOne()
        _ = pool.renewAll()
        var opens = 0
        for step in 0..<6000 {
            let now = 1 * seconds + UInt64(step) * 10 * ms
            pool.willSend(0)
            pool.didEnd(0, answered: true, now: now)
            for action in pool.tick(now: now, answered: UInt64(step)) {
                guard case .open(let member) = action else {
                    Issue.record("expected nothing but attempts, found \(action)")
                    return
                }
                opens += 1
                _ = pool.isDown(member, failure: Self.failure(hopeless: true), now: now, jitter: 1)
            }
        }
        #expect(pool.pick() == 0)
        #expect((5...10).contains(opens), "found \(opens) in a minute")
    }

    @Test("A pool without rows opens nothing and does not run out of patience")
    func opensWhenWanted() {
        var pool = Self.pool()
        #expect(pool.tick(now: 100 * seconds, answered: 0, hasWork: false) == [])
        #expect(pool.tick(now: 101 * seconds, answered: 0) == [.open(member: 0)])
        let later = (102...162).flatMap { pool.tick(now: UInt64($0) * seconds, answered: 0) }
        #expect(later == [.giveUp("no connection for 60 seconds")], "patience counts from the first row")
    }

    @Test("A server that closes idle connections is contacted again only when there is a row")
    func idle() {
        var pool = Self.poolWithTwo()
        for member in [0, 1] { _ = pool.isDown(member, failure: Self.failure(), now: 1 * seconds, jitter: 1) }
        #expect(pool.tick(now: 2 * seconds, answered: 2, hasWork: false) == [])
        #expect(pool.tick(now: 100 * seconds, answered: 2, hasWork: false) == [])
        #expect(pool.tick(now: 101 * seconds, answered: 2) == [.open(member: 0)])
        _ = pool.isDown(0, failure: Self.failure(), now: 102 * seconds, jitter: 1)
        #expect(pool.tick(now: 200 * seconds, answered: 2, hasWork: false) == [])
        #expect(pool.tick(now: 201 * seconds, answered: 2) == [.open(member: 0)])
        let later = (202...262).flatMap { pool.tick(now: UInt64($0) * seconds, answered: 2) }
        #expect(
            later.last == .giveUp("no connection for 60 seconds: refused"), "with a row it is patient only so long")
    }

    @Test("A refusal of replaced credentials on a draining connection does not end the run")
    func refusedWhileDraining() {
        var pool = Self.poolWithOne()
        pool.willSend(0)
        #expect(pool.retire(0) == [.drain(member: 0)])
        _ = pool.renewAll()
        #expect(pool.refused(0, previous: nil) == .ofLeaving([]))
    }

    @Test("Credentials replaced twice before use keep the old connections until the newest answer")
    func renewsTwice() {
        var pool = Self.poolWithOne(maximum: 1)
        pool.willSend(0)
        pool.didEnd(0, answered: true, now: 2)
        #expect(pool.renewAll() == [])
        #expect(pool.tick(now: 1 * seconds, answered: 1) == [.open(member: 1)])
        pool.isUp(1, streams: 1, now: 1 * seconds)
        #expect(pool.renewAll() == [.drain(member: 1)], "it has shown nothing yet")
        #expect(pool.pick() == 0)
        _ = pool.isDown(1, failure: Self.failure(), now: 1 * seconds, jitter: 1)
        #expect(pool.tick(now: 2 * seconds, answered: 1) == [.open(member: 1)])
        pool.isUp(1, streams: 1, now: 2 * seconds)
        pool.willSend(1)
        pool.didEnd(1, answered: true, now: 2 * seconds)
        #expect(pool.tick(now: 2 * seconds, answered: 2) == [.drain(member: 0)])
        #expect(pool.tick(now: 3 * seconds, answered: 2) == [])
    }

    @Test("Credentials replaced twice in mid-change keep the connections that have answered")
    func renewsTwiceHalfway() {
        var pool = Self.poolWithTwo()
        #expect(pool.renewAll() == [])
        for (member, time) in [(2, 1000 * ms), (3, 1100 * ms)] {
            #expect(pool.tick(now: time, answered: 2) == [.open(member: member)])
            pool.isUp(member, streams: 1, now: time)
        }
        pool.willSend(2)
        pool.didEnd(2, answered: true, now: 1200 * ms)
        #expect(pool.renewAll() == [.drain(member: 1), .drain(member: 3)])
        #expect(pool.tick(now: 3 * seconds, answered: 2) == [], "every slot is taken")
        _ = pool.isDown(3, failure: Self.failure(), now: 3 * seconds, jitter: 1)
        #expect(pool.tick(now: 4 * seconds, answered: 2) == [.open(member: 3)])
    }

    // MARK: Refused credentials

    /// Returns a pool with two accepted connections that got new credentials, and of which one successor is up.
    private static func poolInChange() -> ConnectionPool {
        var pool = poolWithTwo()
        pool.willSend(0)
        pool.didEnd(0, answered: true, accepted: true, now: 400 * ms)
        _ = pool.renewAll()
        #expect(pool.tick(now: 1 * seconds, answered: 2) == [.open(member: 2)])
        pool.didOpen(2, generation: 1)
        pool.isUp(2, streams: 1, now: 1 * seconds)
        return pool
    }

    @Test("Connections whose leaving credentials are refused take no new request")
    func refusedWhileLeaving() {
        var pool = Self.poolInChange()
        #expect(pool.refused(0, previous: 0) == .ofLeaving([.drain(member: 0), .drain(member: 1)]))
        #expect(pool.refused(1, previous: 0) == .ofLeaving([]), "what was under way is no news")
        #expect(pool.pick() == 2)
    }

    @Test("New credentials that are refused before a row was accepted leave the old connections in use")
    func refusedWhenNew() {
        var pool = Self.poolInChange()
        pool.willSend(2)
        pool.didEnd(2, answered: true, now: 1 * seconds)
        #expect(pool.refused(2, previous: 0) == .ofNew([.drain(member: 2)]))
        #expect(pool.refused(2, previous: nil) == .ofLeaving([]))
        #expect(pool.tick(now: 2 * seconds, answered: 3) == [])
        #expect([0, 1].allSatisfy { pool.members[$0].isUp && !pool.members[$0].isLeaving })
    }

    @Test("Credentials that are refused after use, or without older ones, end the run")
    func refusedFinally() {
        var pool = Self.poolInChange()
        #expect(pool.refused(2, previous: nil) == .final)
        pool.willSend(2)
        pool.didEnd(2, answered: true, accepted: true, now: 1 * seconds)
        #expect(pool.refused(2, previous: 0) == .final)
        var first = Self.poolWithOne()
        #expect(first.refused(0, previous: nil) == .final)
    }

    @Test("Idle connections with new credentials do not replace those in use")
    func idleWithNew() {
        var pool = Self.poolInChange()
        #expect(pool.tick(now: 10 * seconds, answered: 2, hasWork: false) == [])
        pool.willSend(2)
        pool.didEnd(2, answered: true, accepted: true, now: 10 * seconds)
        #expect(
            pool.tick(now: 10 * seconds, answered: 3, hasWork: false) == [.drain(member: 0), .drain(member: 1)])
    }

    @Test("Leaving connections get only one successor while there are no rows")
    func idleRenewal() {
        var pool = Self.poolWithTwo()
        _ = pool.renewAll()
        #expect(pool.tick(now: 1 * seconds, answered: 2, hasWork: false) == [.open(member: 2)])
        #expect(pool.tick(now: 2 * seconds, answered: 2, hasWork: false) == [])
        pool.isUp(2, streams: 1, now: 3 * seconds)
        #expect(
            pool.tick(now: 4 * seconds, answered: 2, hasWork: false) == [.drain(member: 0), .drain(member: 1)])
        #expect(pool.tick(now: 5 * seconds, answered: 2, hasWork: false) == [])
    }
}
