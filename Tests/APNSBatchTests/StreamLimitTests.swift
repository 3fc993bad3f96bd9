import Testing

@testable import APNSBatchModel
@testable import APNSBatchSending

private let ms: UInt64 = 1_000_000
private let seconds: UInt64 = 1_000_000_000

@Suite("Stream limit of a connection") struct StreamLimitTests {
    @Test("A server's stream limit is used at once, and without one the limit grows each round")
    func ramp() {
        var named = StreamLimit(most: 1000, start: 0)
        named.begin(announced: 5000)
        #expect(named.allowed == 1000)

        var unnamed = StreamLimit(most: 1000, start: 0)
        unnamed.begin(announced: Int(UInt32.max))
        var (answered, limits) = (UInt64(0), [Int]())
        for step in 0..<8 {
            limits.append(unnamed.allowed)
            unnamed.isLimiting = true
            unnamed.adjust(now: UInt64(step) * ms, inFlight: 0, answered: answered)
            answered += UInt64(unnamed.allowed)
        }
        #expect(limits == [100, 100, 200, 400, 800, 1000, 1000, 1000])
        unnamed.begin(announced: Int(UInt32.max))
        #expect(unnamed.allowed == 1000, "the next connection need not begin again")
    }

    /// A model of a server that answers a number of streams per round and connection, and resets those beyond `room`.
    private struct Server {
        var limit = StreamLimit(most: 1000, start: 0)
        var room: Int
        var now: UInt64 = 0
        var answered: UInt64 = 0
        var resets = 0
        /// The share of the streams that is reset at any number of streams.
        var illShare = 0.0
        private var ill = 0.0

        init(room: Int, illShare: Double = 0) { (self.room, self.illShare) = (room, illShare) }

        mutating func round() {
            let open = limit.allowed
            ill += Double(open) * illShare
            let tooMany = max(Int(ill), open - room)
            ill -= Double(Int(ill))
            for left in 0..<max(0, tooMany) {
                limit.wasReset(open: open - left, inFlight: open, answered: answered, now: now)
            }
            resets += max(0, tooMany)
            answered += UInt64(open - max(0, tooMany))
            now += 10 * ms
            limit.isLimiting = true
            limit.adjust(now: now, inFlight: 0, answered: answered)
        }
    }

    @Test("Resets lower the limit below what the server takes, and then few streams are lost")
    func falls() {
        for room in [1, 10, 100, 300, 900] {
            var server = Server(room: room)
            server.limit.begin(announced: 1000)
            for _ in 0..<3 { server.round() }
            #expect(server.limit.allowed <= max(room, 2) * 5 / 4, "\(room): \(server.limit.allowed)")
            let first = server.resets
            for _ in 0..<6000 { server.round() }
            #expect(server.limit.allowed >= max(1, room / 3), "\(room): \(server.limit.allowed)")
            #expect(server.resets - first < 200, "\(room): \(server.resets - first) in a minute")
        }
    }

    @Test("A share of resets that no limit lowers is tolerated")
    func ill() {
        var server = Server(room: 1000, illShare: 0.1)
        server.limit.begin(announced: 1000)
        for _ in 0..<1000 { server.round() }
        #expect(server.limit.allowed == 1000)
    }

    @Test("A server that resets every stream gets hardly any requests")
    func none() {
        var server = Server(room: 0)
        server.limit.begin(announced: 1000)
        for _ in 0..<1000 { server.round() }
        #expect(server.limit.allowed == 1)
    }

    @Test("The limit rises again, and rarely to where the resets began")
    func rises() {
        var server = Server(room: 100)
        server.limit.begin(announced: 1000)
        for _ in 0..<100 { server.round() }
        server.room = 1000
        var times: [Int: UInt64] = [:]
        for _ in 0..<60_000 {
            server.round()
            for mark in [150, 1000] where server.limit.allowed >= mark && times[mark] == nil {
                times[mark] = server.now / seconds
            }
        }
        #expect(times[150].map { $0 > 20 } == true && times[1000] != nil, "\(times)")
    }

    @Test("A connection closed for its open streams halves the limit of the next ones")
    func closed() {
        var limit = StreamLimit(most: 1000, start: 0)
        limit.begin(announced: 1000)
        limit.wasClosed(open: 600, inFlight: 600, answered: 0, now: 0)
        #expect(limit.allowed == 300)
        limit.wasClosed(open: 600, inFlight: 600, answered: 0, now: 0)
        #expect(limit.allowed == 300, "what was open before it fell says nothing")
    }

    // MARK: In the pool

    private static func pool(_ count: Int, streams: Int) -> ConnectionPool {
        var limits = ConnectionPool.Limits()
        limits.maximum = count
        var pool = ConnectionPool(limits: limits, target: count, now: 0)
        for member in 0..<count {
            let now = UInt64(member) * limits.openSpacing
            #expect(pool.tick(now: now, answered: 0) == [.open(member: member)])
            pool.isUp(member, streams: streams, now: now)
        }
        return pool
    }

    @Test("Resets on one connection lower the limit of all connections and their successors", arguments: [7, 11])
    func pushback(code: Int64) {
        var pool = Self.pool(2, streams: 1000)
        for _ in 0..<1000 { pool.willSend(0) }
        for _ in 0..<900 {
            pool.didEnd(0, answered: false, now: seconds)
            pool.wasReset(0, code: code, answered: 0, now: seconds)
        }
        let streams = pool.members[0].streams
        #expect((30...110).contains(streams) && pool.members[1].streams == streams)
        _ = pool.retire(0)
        #expect(pool.tick(now: 2 * seconds, answered: 0) == [.open(member: 2)])
        pool.isUp(2, streams: 1000, now: 2 * seconds)
        #expect(pool.members[2].streams == streams)
    }

    @Test("Other resets do not change the stream limit")
    func otherResets() {
        var pool = Self.pool(1, streams: 1000)
        for _ in 0..<1000 { pool.willSend(0) }
        for _ in 0..<900 {
            pool.didEnd(0, answered: false, now: seconds)
            pool.wasReset(0, code: 2, answered: 0, now: seconds)
        }
        #expect(pool.members[0].streams == 1000)
    }

    @Test("Only GOAWAY with ENHANCE_YOUR_CALM halves the initial limit of successors")
    func calm() {
        for (code, streams) in [(11, 400), (0, 1000), (2, 1000)] as [(UInt32, Int)] {
            var pool = Self.pool(1, streams: 1000)
            for _ in 0..<800 { pool.willSend(0) }
            #expect(pool.goaway(0, code: code, lastStream: 1599, now: seconds) == [.drain(member: 0)])
            #expect(pool.tick(now: seconds, answered: 0) == [.open(member: 1)])
            pool.isUp(1, streams: 1000, now: seconds)
            #expect(pool.members[1].streams == streams, "\(code)")
        }
    }
}
