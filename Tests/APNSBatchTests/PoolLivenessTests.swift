import Testing

@testable import APNSBatchModel
@testable import APNSBatchSending

private let ms: UInt64 = 1_000_000
private let seconds: UInt64 = 1_000_000_000

@Suite("Silent connections") struct PoolLivenessTests {
    /// Returns a pool of connections that are up and have answered once each.
    private static func pool(
        _ count: Int = 1, streams: Int = 100, answered: Bool = true, limits: ConnectionPool.Limits = .init()
    ) -> ConnectionPool {
        var limits = limits
        limits.maximum = count
        var pool = ConnectionPool(limits: limits, target: count, now: 0)
        for member in 0..<count {
            let now = UInt64(member) * limits.openSpacing
            #expect(pool.tick(now: now, answered: 0) == [.open(member: member)])
            pool.didOpen(member)
            pool.isUp(member, streams: streams, now: now)
            guard answered else { continue }
            pool.willSend(member)
            pool.didEnd(member, answered: true, accepted: true, now: now)
        }
        return pool
    }

    // MARK: GOAWAY

    @Test("After GOAWAY answers are awaited until their deadline, and the connection is replaced")
    func goawayDeadline() {
        var pool = Self.pool()
        pool.willSend(0)
        #expect(pool.goaway(0, now: 1 * seconds) == [.drain(member: 0)])
        #expect(pool.pick() == nil)
        #expect(pool.tick(now: 1 * seconds, answered: 1) == [.open(member: 1)])
        pool.didOpen(1)
        pool.isUp(1, streams: 1, now: 1 * seconds)
        #expect(pool.pick() == 1)
        #expect(pool.tick(now: 11 * seconds - 1, answered: 1) == [.ping(member: 0)])
        pool.ponged(0, now: 11 * seconds - 1)
        #expect(pool.tick(now: 11 * seconds, answered: 1) == [.close(member: 0)])
        #expect(pool.tick(now: 12 * seconds, answered: 1) == [], "once")
    }

    @Test("A second GOAWAY does not extend the deadline, and sets one on a draining connection")
    func twoGoaways() {
        var twice = Self.pool()
        twice.willSend(0)
        #expect(twice.goaway(0, now: 1 * seconds) == [.drain(member: 0)])
        #expect(twice.goaway(0, now: 9 * seconds) == [])
        #expect(twice.tick(now: 11 * seconds, answered: 1).first == .close(member: 0))

        var draining = Self.pool()
        draining.willSend(0)
        #expect(draining.retire(0) == [.drain(member: 0)])
        #expect(draining.goaway(0, now: 2 * seconds) == [])
        draining.ponged(0, now: 12 * seconds)
        #expect(draining.tick(now: 12 * seconds, answered: 1).first == .close(member: 0))
    }

    // MARK: PING

    @Test("A silent connection with waiting requests gets a PING and is closed without a reply")
    func deadLink() {
        var pool = Self.pool()
        pool.willSend(0)
        #expect(pool.tick(now: 5 * seconds - 1, answered: 1) == [])
        #expect(pool.tick(now: 5 * seconds, answered: 1) == [.ping(member: 0)])
        #expect(pool.tick(now: 15 * seconds - 1, answered: 1) == [], "one PING at a time")
        #expect(pool.pick() == 0, "it may be slow only")
        #expect(pool.tick(now: 15 * seconds, answered: 1) == [.close(member: 0), .open(member: 1)])
        #expect(pool.pick() == nil)
        pool.didEnd(0, answered: false, now: 15 * seconds)
        #expect(
            pool.isDown(0, failure: .init(isHopeless: false, addresses: 1, text: "x"), now: 16 * seconds, jitter: 1)
                == [])
        #expect(pool.members[0].isVacant)
    }

    @Test("The deadlines of a PONG and of answers are extended after the process stood still")
    func standstill() {
        var pinged = Self.pool()
        pinged.willSend(0)
        #expect(pinged.tick(now: 5 * seconds, answered: 1) == [.ping(member: 0)])
        #expect(pinged.tick(now: 6 * seconds, answered: 1) == [])
        pinged.stoodStill(for: 40 * seconds, now: 46 * seconds)
        #expect(pinged.tick(now: 46 * seconds, answered: 1) == [])
        #expect(pinged.tick(now: 55 * seconds - 1, answered: 1) == [])
        #expect(pinged.tick(now: 55 * seconds, answered: 1).first == .close(member: 0))

        var leaving = Self.pool()
        leaving.willSend(0)
        _ = leaving.goaway(0, now: 1 * seconds)
        leaving.stoodStill(for: 40 * seconds, now: 42 * seconds)
        leaving.ponged(0, now: 42 * seconds)
        #expect(leaving.tick(now: 51 * seconds - 1, answered: 1).contains(.close(member: 0)) == false)
        leaving.ponged(0, now: 51 * seconds - 1)
        #expect(leaving.tick(now: 51 * seconds, answered: 1).first == .close(member: 0))
    }

    @Test("An answer or a PONG shows that a connection is alive, and a slow server gets more PINGs")
    func aliveAndSlow() {
        var pool = Self.pool()
        pool.willSend(0)
        #expect(pool.tick(now: 5 * seconds, answered: 1) == [.ping(member: 0)])
        pool.ponged(0, now: 6 * seconds)
        #expect(pool.tick(now: 11 * seconds - 1, answered: 1) == [])
        #expect(pool.tick(now: 11 * seconds, answered: 1) == [.ping(member: 0)])
        pool.willSend(0)
        pool.didEnd(0, answered: true, now: 12 * seconds)
        #expect(pool.tick(now: 16 * seconds, answered: 2) == [])
        #expect(pool.tick(now: 17 * seconds, answered: 2) == [.ping(member: 0)])
    }

    @Test("An idle connection gets a PING once a minute")
    func idlePing() {
        var pool = Self.pool()
        #expect(pool.tick(now: 60 * seconds - 1, answered: 1, hasWork: false) == [])
        #expect(pool.tick(now: 60 * seconds, answered: 1, hasWork: false) == [.ping(member: 0)])
        pool.ponged(0, now: 61 * seconds)
        #expect(pool.tick(now: 121 * seconds - 1, answered: 1, hasWork: false) == [])
        #expect(pool.tick(now: 121 * seconds, answered: 1, hasWork: false) == [.ping(member: 0)])
        #expect(pool.tick(now: 131 * seconds, answered: 1, hasWork: false) == [.close(member: 0)])
    }

    // MARK: Watchdog

    @Test("When no answers come, all connections are replaced, and then the run ends")
    func watchdog() {
        var pool = Self.pool(2)
        var actions: [ConnectionPool.Action] = []
        for step in 1...1400 {
            let now = UInt64(step) * 100 * ms
            for member in [0, 1] where pool.members[member].isUp && pool.members[member].inFlight == 0 {
                pool.willSend(member)
            }
            for action in pool.tick(now: now, answered: 2) {
                switch action {
                case .ping(let member): pool.ponged(member, now: now)
                case .open(let member): pool.isUp(member, streams: 1, now: now)
                case .race, .drain, .replace, .close, .giveUp: actions.append(action)
                }
            }
        }
        #expect(
            actions.prefix(2) == [.drain(member: 0), .drain(member: 1)], "after a minute without an answer")
        #expect(
            actions.last == .giveUp("no answer for 120 seconds, 2 requests in flight on 2 connections"),
            "\(actions)")
    }

    @Test("A server that never answers requests is not reported as unreachable")
    func silentServer() {
        var limits = ConnectionPool.Limits()
        (limits.maximum, limits.patience) = (1, 5 * seconds)
        var pool = ConnectionPool(limits: limits, now: 0)
        var last: ConnectionPool.Action?
        for step in 0...1400 {
            let now = UInt64(step) * 100 * ms
            for action in pool.tick(now: now, answered: 0) {
                switch action {
                case .ping(let member): pool.ponged(member, now: now)
                case .open(let member):
                    pool.isUp(member, streams: 1, now: now)
                    pool.willSend(member)
                default: last = action
                }
            }
        }
        #expect(last == .giveUp("no answer for 120 seconds, 2 requests in flight on 1 connection"))
    }

    @Test("A connection without streams is replaced, and is the cause when all are")
    func noStreams() {
        var limits = ConnectionPool.Limits()
        // The second connection is not replaced.
        limits.backoffFirst = 1 << 62
        limits.backoffLargest = 1 << 58
        var pool = Self.pool(limits: limits)
        pool.settings(0, streams: 0, now: 1 * seconds)
        #expect(pool.tick(now: 2 * seconds, answered: 1) == [.drain(member: 0), .open(member: 1)])
        pool.isUp(1, streams: 0, now: 2 * seconds)
        let later = (3...70).flatMap { pool.tick(now: UInt64($0) * seconds, answered: 1) }
        #expect(later.last == .giveUp("1 connection has allowed no streams for 60 seconds"), "\(later)")
    }

    @Test("Connections are replaced repeatedly while other pools have answers")
    func watchdogOfOne() {
        var pool = Self.pool()
        var drains: [UInt64] = []
        for step in 1...3000 {
            let now = UInt64(step) * 100 * ms
            if pool.members[pool.members.current].isUp, pool.members[pool.members.current].inFlight == 0 {
                pool.willSend(pool.members.current)
            }
            for action in pool.tick(now: now, answered: 1, othersAnswer: true) {
                switch action {
                case .ping(let member): pool.ponged(member, now: now)
                case .open(let member): pool.isUp(member, streams: 1, now: now)
                case .drain: drains.append(now / seconds)
                case .close(let member):
                    pool.didEnd(member, answered: false, now: now)
                    _ = pool.isDown(
                        member, failure: .init(isHopeless: false, addresses: 1, text: "x"), now: now, jitter: 1)
                case .race, .replace, .giveUp: Issue.record("did not expect \(action)")
                }
            }
            if let member = pool.pick(), pool.members[member].inFlight == 0 { pool.willSend(member) }
        }
        #expect(drains.count > 1 && drains.count < 5, "\(drains)")
    }

    @Test("Rows between two attempts do not reset the watchdog")
    func watchdogBetweenAttempts() {
        var pool = Self.pool()
        var last: [ConnectionPool.Action] = []
        for step in 1...300 {
            let now = UInt64(step) * seconds
            pool.ponged(0, now: now)
            let waits = step % 2 == 0
            if waits { pool.didEnd(0, answered: false, now: now) } else { pool.willSend(0) }
            last = pool.tick(now: now, answered: 1, hasWork: !waits)
            if !last.isEmpty { break }
        }
        #expect(last.first == .drain(member: 0))
    }

    @Test("Any answer resets the watchdog, as does having no requests")
    func calm() {
        var pool = Self.pool()
        pool.willSend(0)
        for step in 1...300 {
            let now = UInt64(step) * seconds
            pool.ponged(0, now: now)
            pool.willSend(0)
            pool.didEnd(0, answered: step % 50 == 0, now: now)
            #expect(pool.tick(now: now, answered: 1 + UInt64(step / 50)) == [], "second \(step)")
        }
        pool.didEnd(0, answered: false, now: 300 * seconds)
        for step in 301...900 {
            pool.ponged(0, now: UInt64(step) * seconds)
            #expect(pool.tick(now: UInt64(step) * seconds, answered: 7) == [], "second \(step)")
        }
    }

    // MARK: Limits that fall

    @Test(
        "A connection whose limit fell to nearly nothing serves until its successor is in use",
        arguments: [0, 1])
    func fallen(limit: Int) {
        var pool = Self.pool()
        for _ in 0..<5 { pool.willSend(0) }
        pool.settings(0, streams: limit, now: 1 * seconds)
        #expect(pool.pick() == nil, "not one stream too many")
        #expect(pool.tick(now: 2 * seconds - 1, answered: 1) == [])
        #expect(pool.tick(now: 2 * seconds, answered: 1) == [.open(member: 1)])
        pool.didOpen(1)
        pool.isUp(1, streams: 1, now: 2 * seconds)
        #expect(pool.pick() == 1, "rows move")
        pool.willSend(1)
        #expect(pool.tick(now: 2 * seconds, answered: 1) == [])
        pool.didEnd(1, answered: true, now: 2 * seconds)
        pool.settings(1, streams: 100, now: 2 * seconds)
        #expect(pool.tick(now: 2 * seconds, answered: 2) == [.drain(member: 0)])
    }

    @Test("A limit that recovers in time or was never above one causes no replacement")
    func soundLimits() {
        var risen = Self.pool()
        risen.settings(0, streams: 1, now: 1 * seconds)
        risen.settings(0, streams: 2, now: 1900 * ms)
        #expect(risen.tick(now: 4 * seconds, answered: 1) == [])
        var narrow = Self.pool(streams: 1)
        #expect(narrow.tick(now: 4 * seconds, answered: 1) == [])
    }

    @Test("A server that lowers every limit has its connections replaced ever more slowly")
    func fallenAgain() {
        var pool = Self.pool()
        var opens = 0
        for step in 1...6000 {
            let now = UInt64(step) * 10 * ms
            for member in pool.members.indices where pool.members[member].isUp {
                if pool.members[member].streams > 1 { pool.settings(member, streams: 1, now: now) }
                pool.willSend(member)
                pool.didEnd(member, answered: true, now: now)
            }
            for action in pool.tick(now: now, answered: UInt64(step)) {
                switch action {
                case .open(let member):
                    opens += 1
                    pool.isUp(member, streams: 100, now: now)
                case .drain(let member):
                    _ = pool.isDown(
                        member, failure: .init(isHopeless: false, addresses: 1, text: "x"), now: now, jitter: 1)
                default: Issue.record("did not expect \(action)")
                }
            }
        }
        #expect((5...9).contains(opens), "found \(opens) in a minute")
    }
}
