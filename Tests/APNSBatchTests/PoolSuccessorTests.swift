import Testing

@testable import APNSBatchModel
@testable import APNSBatchSending

private let ms: UInt64 = 1_000_000
private let seconds: UInt64 = 1_000_000_000

@Suite("Successors of worn connections") struct PoolSuccessorTests {
    /// A pool and a model of a server. Its connections need some time to come up, and accept a limited number of
    /// requests each.
    private struct Stage {
        var pool: ConnectionPool
        let life: Int
        let streams: Int
        /// The time until a connection is up, in milliseconds.
        let setup: UInt64
        let latency: UInt64
        /// The maximum number of answers per millisecond.
        let most: Int
        var now: UInt64 = 0
        var answered: UInt64 = 0
        var opens = 0
        var refused = 0
        private var comingUp: [(at: UInt64, member: Int)] = []
        private var taken: [Int: Int] = [:]
        private var flights: [(due: UInt64, member: Int, isTaken: Bool)] = []
        private var first = 0
        /// The connections that received GOAWAY.
        private var gone: Set<Int> = []
        private var goneTaken: [Int: Int] = [:]

        init(life: Int, streams: Int = 128, setup: UInt64 = 8, latency: UInt64 = 2, most: Int = 80, maximum: Int = 16) {
            var limits = ConnectionPool.Limits()
            limits.maximum = maximum
            pool = ConnectionPool(limits: limits, now: 0)
            (self.life, self.streams, self.setup, self.latency, self.most) = (life, streams, setup, latency, most)
        }

        /// Runs for some milliseconds, and returns the number of answers in them.
        mutating func run(_ milliseconds: Int) -> UInt64 {
            let before = answered
            for _ in 0..<milliseconds { step() }
            return answered - before
        }

        private mutating func step() {
            now += ms
            answer()
            for index in comingUp.indices.reversed() where comingUp[index].at <= now {
                let member = comingUp.remove(at: index).member
                taken[member] = 0
                pool.isUp(member, streams: streams, now: now)
            }
            for action in pool.tick(now: now, answered: answered) { act(action) }
            while let member = pool.pick() { send(member) }
        }

        private mutating func act(_ action: ConnectionPool.Action) {
            switch action {
            case .open(let member):
                opens += 1
                comingUp.append((now + setup * ms, member))
            case .drain, .replace, .close, .ping, .race: break
            case .giveUp(let text): Issue.record("gave up: \(text)")
            }
        }

        private mutating func send(_ member: Int) {
            pool.willSend(member)
            taken[member, default: 0] += 1
            flights.append((now + latency * ms, member, taken[member]! <= life))
        }

        /// Answers the requests that are due. Requests on streams above the last stream of a GOAWAY are not processed.
        private mutating func answer() {
            var done = 0
            while first < flights.count, flights[first].due <= now, done < most {
                let flight = flights[first]
                first += 1
                pool.didEnd(flight.member, answered: flight.isTaken, accepted: flight.isTaken, now: now)
                if flight.isTaken {
                    answered += 1
                    done += 1
                } else {
                    refused += 1
                }
                finish(flight.member)
            }
        }

        private mutating func finish(_ member: Int) {
            if taken[member]! >= life, !gone.contains(member) {
                gone.insert(member)
                for action in pool.goaway(member, code: 0, lastStream: UInt32(2 * life - 1), now: now) { act(action) }
            }
            guard gone.contains(member), pool.members[member].inFlight == 0 else { return }
            gone.remove(member)
            let failure = ConnectionFailure(isHopeless: false, addresses: 1, text: "closed")
            #expect(pool.isDown(member, failure: failure, now: now, jitter: 1) == [])
        }
    }

    @Test("A server with 1,000 requests per connection is served at nine tenths of full speed")
    func nginx() {
        var endless = Stage(life: .max / 4)
        var short = Stage(life: 1000)
        for _ in 0..<2 { _ = (endless.run(1000), short.run(1000)) }
        let (full, found) = (endless.run(3000), short.run(3000))
        #expect(Double(found) >= 0.9 * Double(full), "\(found) of \(full) answers")
        #expect(
            short.opens < Int(short.answered) / 1000 + 40, "\(short.opens) connections for \(short.answered) answers")
        #expect(Double(short.refused) < 0.05 * Double(short.answered), "\(short.refused) were sent in vain")
    }

    @Test("A server with GOAWAY after ten requests is served faster than the spacing allows")
    func ten() {
        var short = Stage(life: 10)
        _ = short.run(1000)
        let found = short.run(2000)
        #expect(found > 10 * 181, "\(found) answers in two seconds")
    }

    @Test("Connections that were hardly used keep their spacing")
    func fleeting() {
        var short = Stage(life: 3)
        _ = short.run(10_000)
        #expect(short.opens < 201, "\(short.opens) in ten seconds")
    }

    @Test("A lifetime is known after two similar connections, and is dropped when one exceeds it")
    func lives() {
        var life = ConnectionLife()
        life.ended(served: 1000)
        #expect(life.requests == nil)
        life.ended(served: 1000)
        #expect(life.requests == 1000)
        life.ended(served: 950)
        #expect(life.requests == 950)
        life.ended(served: 90)
        #expect(life.requests == nil)
        life.ended(served: 90)
        #expect(life.requests == 90)
        life.outlived()
        #expect(life.requests == nil)
    }

    @Test("A connection gets no more requests than its lifetime, and continues without GOAWAY")
    func goesOn() {
        var pool = ConnectionPool(limits: .init(), now: 0)
        let closed = ConnectionFailure(isHopeless: false, addresses: 1, text: "closed")
        for _ in 0..<2 {
            #expect(pool.tick(now: 0, answered: 0) == [.open(member: 0)])
            pool.isUp(0, streams: 100, now: 0)
            for _ in 0..<20 { pool.willSend(0) }
            for _ in 0..<20 { pool.didEnd(0, answered: true, now: 0) }
            #expect(pool.goaway(0, code: 0, lastStream: 39, now: 0) == [.drain(member: 0)])
            #expect(pool.isDown(0, failure: closed, now: 0, jitter: 1) == [])
        }
        #expect(pool.tick(now: 0, answered: 0) == [.open(member: 0)])
        pool.isUp(0, streams: 100, now: 1 * ms)
        var sent = 0
        while let member = pool.pick() {
            pool.willSend(member)
            sent += 1
        }
        #expect(sent == 20)
        for _ in 0..<20 { pool.didEnd(0, answered: true, accepted: true, now: 2 * ms) }
        #expect(pool.pick() == nil)
        _ = pool.tick(now: 3 * ms, answered: 20)
        #expect(pool.pick() == nil, "its GOAWAY may be on its way")
        _ = pool.tick(now: 60 * ms, answered: 20)
        #expect(pool.pick() == 0)
        #expect(pool.consumption.life.requests == nil)
    }

    @Test("The last stream id of the server counts, not what was sent beyond it")
    func served() {
        var pool = ConnectionPool(limits: .init(), now: 0)
        for round in 0..<2 {
            let now = UInt64(round) * seconds
            guard case .open(let member)? = pool.tick(now: now, answered: 0).first else {
                Issue.record("no connection")
                return
            }
            pool.isUp(member, streams: 100, now: now)
            for _ in 0..<60 { pool.willSend(member) }
            for _ in 0..<30 { pool.didEnd(member, answered: true, now: now) }
            #expect(pool.goaway(member, code: 0, lastStream: 79, now: now) == [.drain(member: member)])
            // Some servers send GOAWAY twice.
            #expect(pool.goaway(member, code: 0, lastStream: 99, now: now) == [])
        }
        #expect(pool.consumption.life.requests == 40)
    }
}
