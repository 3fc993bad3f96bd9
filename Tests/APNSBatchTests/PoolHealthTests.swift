import Testing

@testable import APNSBatchModel
@testable import APNSBatchSending

private let ms: UInt64 = 1_000_000
private let seconds: UInt64 = 1_000_000_000

@Suite("Connections that answer with errors") struct PoolHealthTests {
    /// A pool whose connections are up, and a server some of whose connections refuse everything.
    private struct Stage {
        var pool: ConnectionPool
        var now: UInt64 = 0
        var view = PoolHealth.View()
        var answered: UInt64 = 0
        /// The replaced members, and those that were opened, with their times in milliseconds.
        var replaced: [(member: Int, at: UInt64)] = []
        var opened: [(member: Int, at: UInt64)] = []
        var blames: [PoolHealth.Blame] = []
        /// Whether a connection that is opened comes up at once.
        var comesUp = true

        init(connections: Int) {
            var limits = ConnectionPool.Limits()
            limits.maximum = connections
            (limits.pingAfter, limits.pingIdleAfter) = (1 << 62, 1 << 62)
            pool = ConnectionPool(limits: limits, target: connections, now: 0)
            while pool.up < connections { tick(50) }
            // The next one may be opened.
            tick(50)
            opened = []
        }

        mutating func tick(_ milliseconds: UInt64 = 5) {
            now += milliseconds * ms
            act(pool.tick(now: now, answered: answered, view: view))
        }

        mutating func act(_ actions: [ConnectionPool.Action]) {
            for action in actions {
                switch action {
                case .open(let member):
                    opened.append((member, now / ms))
                    pool.didOpen(member)
                    if comesUp { pool.isUp(member, streams: 1000, now: now) }
                case .replace(let member, _):
                    replaced.append((member, now / ms))
                    if pool.members[member].inFlight == 0 { down(member) }
                case .drain(let member): down(member)
                case .close, .ping, .race, .giveUp: Issue.record("did not expect \(action)")
                }
            }
        }

        mutating func down(_ member: Int) {
            act(
                pool.isDown(
                    member, failure: .init(isHopeless: false, addresses: 1, text: "x"), now: now, jitter: 1))
        }

        mutating func good(_ member: Int, _ count: Int = 1) {
            for _ in 0..<count {
                pool.willSend(member)
                pool.didEnd(member, answered: true, accepted: true, latency: 1000, now: now)
                answered += 1
            }
        }

        mutating func bad(_ member: Int, _ count: Int = 1, _ evidence: ConnectionHealth.Evidence = .usual) {
            for _ in 0..<count { pool.willSend(member) }
            for _ in 0..<count {
                pool.didEnd(member, answered: true, latency: 1000, now: now)
                answered += 1
                let (blame, actions) = pool.noteTrouble(member, isFirst: true, evidence, view, now: now)
                blames.append(blame)
                act(actions)
            }
            if !pool.members[member].isVacant, !pool.members[member].isUp { down(member) }
        }
    }

    @Test("A connection that fails while another one serves is replaced at once, and is to blame")
    func replacesAtOnce() {
        var stage = Stage(connections: 2)
        stage.good(1, 10)
        stage.bad(0, 100)
        #expect(stage.replaced.map(\.member) == [0])
        #expect(
            stage.blames == Array(repeating: .provider(isFresh: false), count: 23)
                + Array(repeating: .connection, count: 77))
        stage.tick()
        #expect(stage.opened.map(\.member) == [0] && stage.pool.up == 2, "a fresh connection has its slot")
        #expect(stage.pool.members[0].health.isFresh)
    }

    @Test("A sole connection is replaced as a test; its provider is to blame only if the fresh one fails, too")
    func soleConnection() {
        var stage = Stage(connections: 1)
        stage.bad(0, 100)
        #expect(stage.replaced.count == 1 && stage.blames.suffix(77).allSatisfy { $0 == .connection })
        stage.tick()
        #expect(stage.pool.up == 1 && stage.replaced.count == 1)
        stage.bad(0, 30)
        #expect(stage.replaced.count == 1, "the pause after the first replacement is not over")
        #expect(stage.blames.suffix(30).allSatisfy { $0 == .provider(isFresh: true) })
        #expect(stage.pool.pick() == 0, "there is no other one")
    }

    @Test("A sole connection that is sick alone is replaced once, and its successor proves itself")
    func soleSickConnection() {
        var stage = Stage(connections: 1)
        stage.good(0, 1000)
        stage.bad(0, 40)
        stage.tick()
        stage.good(0, 1000)
        stage.tick()
        #expect(stage.replaced.count == 1 && stage.pool.health == PoolHealth.calm(after: stage.pool.health))
        #expect(!stage.pool.members[0].health.isFresh)
    }

    @Test("A fresh connection has few requests until its first good answer")
    func freshHasFew() {
        var stage = Stage(connections: 1)
        stage.bad(0, 100)
        stage.tick()
        #expect(stage.pool.members[0].health.isFresh)
        func fill() -> Int {
            var sent = 0
            while stage.pool.pick() == 0 {
                stage.pool.willSend(0)
                sent += 1
            }
            return sent
        }
        #expect(fill() == 32)
        stage.pool.didEnd(0, answered: true, now: stage.now)
        _ = stage.pool.noteTrouble(0, isFirst: true, now: stage.now)
        stage.tick()
        #expect(fill() == 1, "that answer was not good")
        stage.pool.didEnd(0, answered: true, accepted: true, now: stage.now)
        stage.tick()
        #expect(fill() == 1000 - 31)
    }

    @Test("A connection of a pool in which none serves is replaced if one of another lane serves")
    func otherLanes() {
        var stage = Stage(connections: 1)
        stage.view.othersServe = true
        stage.bad(0, 30)
        stage.tick()
        stage.bad(0, 30)
        #expect(
            stage.blames.suffix(7).allSatisfy { $0 == .connection }, "it fails, although its replacement is not due")
        #expect(stage.replaced.count == 1)
        stage.tick(250)
        #expect(stage.replaced.count == 2)
    }

    @Test("Where none serves one connection at a time is tested, and the failing ones get nothing meanwhile")
    func testsOne() {
        var stage = Stage(connections: 4)
        stage.comesUp = false
        for member in 0..<4 { stage.bad(member, 30) }
        #expect(stage.replaced.map(\.member) == [0] && stage.blames.filter { $0 == .connection }.isEmpty)
        #expect(stage.pool.pick() == nil, "the fresh one is awaited")
        stage.tick(250)
        #expect(stage.opened.count == 1 && stage.replaced.count == 1 && stage.pool.pick() == nil)
        stage.tick(3000)
        #expect(stage.pool.pick() != nil, "not for ever")
        stage.pool.isUp(stage.opened[0].member, streams: 1000, now: stage.now)
        stage.tick()
        #expect(stage.pool.pick() == stage.opened[0].member && stage.replaced.count == 1)
        stage.good(stage.opened[0].member, 10)
        stage.comesUp = true
        for _ in 0..<400 { stage.tick() }
        #expect(Set(stage.replaced.map(\.member)) == [0, 1, 2, 3], "the fresh one serves, so the others are to blame")
    }

    @Test("More room is no reason to choose a connection that fails")
    func neverPicked() {
        var stage = Stage(connections: 2)
        stage.good(1)
        // The pause is not over.
        stage.bad(0, 30)
        stage.tick()
        stage.bad(0, 30)
        #expect(stage.pool.members[0].isFailing)
        for _ in 0..<1000 {
            #expect(stage.pool.pick() == 1)
            stage.pool.willSend(1)
        }
        #expect(stage.pool.pick() == nil && !stage.pool.hasStream, "all streams of the other one are in use")
        #expect(stage.pool.members[0].isUp && stage.pool.members[0].inFlight == 0)
    }

    @Test("Replacements become ever less frequent while fresh connections fail, too", arguments: [false, true])
    func bounded(othersServe: Bool) {
        var stage = Stage(connections: 8)
        stage.view.othersServe = othersServe
        let end = stage.now + 600 * seconds
        while stage.now < end {
            stage.tick(50)
            if let member = stage.pool.pick() { stage.bad(member, 30) }
        }
        #expect((15...30).contains(stage.replaced.count), "found \(stage.replaced.count) in ten minutes")
        let first = stage.replaced.first?.at ?? 0
        #expect(stage.replaced.count { $0.at < first + 4000 } <= 5)
    }

    @Test(
        "While only probes are sent each bad answer has a fresh connection opened, and no probe uses the one that failed"
    )
    func probes() {
        var stage = Stage(connections: 2)
        stage.view.isProbing = true
        var used: [Int] = []
        for _ in 0..<8 {
            for _ in 0..<400 { stage.tick() }
            guard let member = stage.pool.pick() else { break }
            #expect(!stage.pool.members[member].isFailing)
            used.append(stage.pool.members[member].answers)
            stage.bad(member)
        }
        stage.tick()
        #expect(used == Array(repeating: 0, count: 8))
        #expect(stage.replaced.count == 7 && stage.opened.count == 7, "the second one was not known to fail")
    }

    @Test("When an outage is suspected a fresh connection is tried, even if no old one fails")
    func doubted() {
        var stage = Stage(connections: 3)
        for member in 0..<3 { stage.bad(member, member == 1 ? 10 : 5) }
        stage.view.isDoubted = true
        for _ in 0..<10 { stage.tick() }
        #expect(stage.replaced.map(\.member) == [1] && stage.opened.count == 1)
        stage.bad(stage.opened[0].member)
        #expect(stage.blames.last == .provider(isFresh: true))
    }

    @Test("An answer that says that the connection is at an end replaces it, within the same bounds")
    func saysSo() {
        var stage = Stage(connections: 1)
        stage.good(0, 100)
        stage.bad(0, 1, .decisive)
        #expect(stage.replaced.count == 1 && stage.blames == [.connection])
        stage.tick()
        stage.bad(0, 1, .decisive)
        #expect(stage.replaced.count == 1 && stage.blames.last == .provider(isFresh: true))
    }

    @Test("A leaving connection that is replaced while its successor is there holds up no other replacement")
    func leavingOne() {
        var stage = Stage(connections: 1)
        stage.good(0, 100)
        stage.act(stage.pool.renewAll())
        stage.comesUp = false
        stage.tick(10_000)
        let successor = stage.opened[0].member
        stage.pool.isUp(successor, streams: 1000, now: stage.now)
        stage.bad(successor, 30)
        #expect(stage.replaced.isEmpty, "the other one may serve")
        stage.bad(0, 30)
        #expect(stage.replaced.map(\.member) == [0])
        stage.tick(1000)
        stage.tick(1000)
        #expect(stage.replaced.map(\.member) == [0, successor])
    }

    @Test("A replaced connection is no failure of its slot")
    func noFailure() {
        var stage = Stage(connections: 1)
        stage.bad(0, 30)
        stage.tick()
        #expect(!stage.pool.slots.haveFailures && stage.pool.lastFailure == nil)
    }

    @Test("A connection that is many times as slow as another one is replaced, and the next one half a minute later")
    func slow() {
        var stage = Stage(connections: 4)
        func run(_ stage: inout Stage, _ tenths: Int, slow: [Int]) {
            for _ in 0..<tenths {
                stage.tick(100)
                for member in 0..<4 where stage.pool.members[member].isUp {
                    let isSlow = slow.contains(member)
                    for _ in 0..<(isSlow ? 5 : 100) {
                        stage.pool.willSend(member)
                        stage.pool.didEnd(
                            member, answered: true, accepted: true, latency: isSlow ? 800_000 : 40_000, now: stage.now)
                    }
                }
            }
        }
        run(&stage, 30, slow: [])
        #expect(stage.replaced.isEmpty)
        run(&stage, 30, slow: [1, 2])
        #expect(stage.replaced.map(\.member) == [1], "one at a time")
        run(&stage, 320, slow: [2])
        #expect(stage.replaced.map(\.member) == [1, 2])
    }

    @Test("A connection that has many requests, and so answers each of them later, is not slow")
    func busy() {
        var stage = Stage(connections: 2)
        for _ in 0..<100 {
            stage.tick(100)
            for (member, latency) in [(0, 900_000), (1, 9000)] as [(Int, UInt32)] {
                for _ in 0..<100 {
                    stage.pool.willSend(member)
                    stage.pool.didEnd(member, answered: true, accepted: true, latency: latency, now: stage.now)
                }
            }
        }
        #expect(stage.replaced.isEmpty)
    }
}

extension PoolHealth {
    /// The same without a series of replacements, for comparison.
    fileprivate static func calm(after health: PoolHealth) -> PoolHealth {
        #expect(health.inVain == 0 && !health.isInTrouble)
        return health
    }
}
