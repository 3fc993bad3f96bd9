import Testing

@testable import APNSBatch

private let ms: UInt64 = 1_000_000
private let seconds: UInt64 = 1_000_000_000

@Suite("Pace of requests") struct StreamPaceTests {
    /// One interval of 100 ms.
    private static func interval(
        _ pace: inout StreamPace, _ number: Int, answers: Int = 100, pushbacks: Int = 0, latency: UInt32 = 1000,
        isLimiting: Bool = true
    ) {
        let underWay = min(1000, pace.allowed)
        for answer in 0..<answers {
            pace.note(latency: latency, isPushback: answer < pushbacks, underWay: underWay)
        }
        pace.isLimiting = isLimiting
        pace.adjust(now: UInt64(number) * 100 * ms, streams: 1000)
    }

    @Test("without pushback there is no limit, and a few that concern one device are none")
    func free() {
        var pace = StreamPace(start: 0)
        for number in 1...10 { Self.interval(&pace, number, pushbacks: 4) }
        #expect(pace.allowed == .max)
    }

    @Test("halves while the server refuses all, down to a sixteenth, and rises by a little while all are in use")
    func halves() {
        var pace = StreamPace(start: 0)
        var seen: [Int] = []
        for number in 1...10 {
            Self.interval(&pace, number, pushbacks: 100)
            seen.append(pace.allowed)
        }
        #expect(seen == [500, 500, 250, 250, 125, 125, 62, 62, 62, 62], "each halving has an interval to show itself")
        Self.interval(&pace, 11, isLimiting: false)
        #expect(pace.allowed == 62)
        Self.interval(&pace, 12)
        #expect(pace.allowed == 93)
        for number in 13...42 { Self.interval(&pace, number) }
        #expect(pace.allowed == .max)
    }

    /// A server with a round trip of an interval and rows without end: what was answered, and how much of it refused, in
    /// each of many intervals.
    private static func run(_ refused: (Int) -> Int) -> [(answers: Int, pushbacks: Int)] {
        var pace = StreamPace(start: 0)
        return (1...600).map { number in
            let answers = min(1000, pace.allowed)
            interval(&pace, number, answers: answers, pushbacks: refused(answers), latency: 100_000)
            return (answers, refused(answers))
        }
    }

    @Test(
        "a share that is refused however little is sent costs next to no time",
        arguments: [0.03, 0.06, 0.1, 0.2, 0.5, 0.8])
    func steadyShare(share: Double) {
        let answers = Self.run { Int((share * Double($0)).rounded()) }.reduce(0) { $0 + $1.answers }
        #expect(answers > 570_000, "found \(answers) of 600000")
    }

    @Test("a server with a limit gets about what it takes", arguments: [100, 300, 700])
    func overload(capacity: Int) {
        let late = Self.run { max(0, $0 - capacity) }.suffix(300)
        let (answers, pushbacks) = late.reduce((0, 0)) { ($0.0 + $1.answers, $0.1 + $1.pushbacks) }
        #expect(answers - pushbacks > 300 * capacity * 6 / 10, "found \(answers - pushbacks) accepted")
        #expect(pushbacks < answers / 10, "found \(pushbacks) refused of \(answers)")
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
            pace.note(latency: 1000, isPushback: true, underWay: 1000)
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
        for _ in 0..<8 { pool.willSend(0) }
        for _ in 0..<20 {
            pool.didEnd(0, answered: true, isPushback: true, now: 0)
            pool.willSend(0)
        }
        for _ in 0..<8 { pool.didEnd(0, answered: false, now: 0) }
        #expect(pool.tick(now: 100 * ms, answered: 20) == [])
        for _ in 0..<4 {
            #expect(pool.pick() == 0 && pool.hasStream)
            pool.willSend(0)
        }
        #expect(pool.pick() == nil && !pool.hasStream)
        #expect(!pool.growth.starved)
    }

    /// One connection with 900 requests under way, of which 100 were just refused.
    private static func pushedBack(streams: Int) -> ConnectionPool {
        var pool = ConnectionPool(limits: .init(), now: 0)
        _ = pool.tick(now: 0, answered: 0)
        pool.isUp(0, streams: streams, now: 0)
        for _ in 0..<900 { pool.willSend(0) }
        for _ in 0..<100 {
            pool.didEnd(0, answered: true, isPushback: true, now: 0)
            pool.willSend(0)
        }
        return pool
    }

    @Test("what a connection that drains has under way does not count, and its going is no reason to send less")
    func draining() {
        var pool = Self.pushedBack(streams: 1000)
        #expect(pool.retire(0) == [.drain(member: 0)])
        #expect(pool.tick(now: 100 * ms, answered: 100) == [.open(member: 1)])
        pool.isUp(1, streams: 1000, now: 110 * ms)
        pool.didEnd(0, answered: true, isPushback: true, now: 110 * ms)
        #expect(pool.tick(now: 200 * ms, answered: 101) == [])
        #expect(pool.inFlight == 899 && pool.inFlightUp == 0)
        for _ in 0..<450 {
            #expect(pool.pick() == 1)
            pool.willSend(1)
        }
    }

    @Test("a server without a limit of its own is halved from what was in use", arguments: [1000, 4_294_967_295])
    func noLimit(streams: Int) {
        var pool = Self.pushedBack(streams: streams)
        #expect(pool.tick(now: 100 * ms, answered: 100) == [])
        #expect(pool.pace.allowed == 450)
    }
}
