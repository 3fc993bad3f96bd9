import Testing

@testable import APNSBatchModel
@testable import APNSBatchSending

private let ms: UInt64 = 1_000_000

@Suite("Stream pace") struct StreamPaceTests {
    /// A pace and the time at which its last interval ended.
    private struct Play {
        var pace = StreamPace(start: 0)
        var now: UInt64 = 0

        /// Simulates an interval: one of 100 ms, or as long as an answer took in the last one.
        @discardableResult
        mutating func interval(_ answers: Int = 100, latency: UInt32 = 1, isLimiting: Bool = true) -> Double? {
            let inFlight = min(1000, pace.allowed)
            for _ in 0..<answers { pace.note(latency: latency * 1000, inFlight: inFlight) }
            pace.isLimiting = isLimiting
            now += 100 * ms
            for _ in 0..<1000 {
                let before = pace
                let time = pace.adjust(now: now, streams: 1000)
                if pace != before { return time }
                now += 10 * ms
            }
            Issue.record("an interval without an end")
            return nil
        }
    }

    @Test("Later and fewer answers lower the limit by a quarter, and late answers alone do not")
    func late() {
        var play = Play()
        for _ in 1...5 { play.interval() }
        play.interval(100, latency: 300)
        for _ in 1...4 { play.interval(300, latency: 300) }
        #expect(play.pace.allowed == .max, "as many as before")
        play.interval(100, latency: 300)
        #expect(play.pace.allowed == .max, "once may be an accident")
        play.interval(100, latency: 300)
        #expect(play.pace.allowed == 750)
        // Answers come sooner with fewer requests in flight, so that it was right.
        for _ in 1...18 { play.interval(30, latency: UInt32(min(1000, play.pace.allowed) * 3 / 10)) }
        #expect((125...750).contains(play.pace.allowed), "\(play.pace.allowed)")
    }

    @Test("No limit is lowered before requests that were sent since the last time were answered")
    func patience() {
        var play = Play()
        for _ in 1...5 { play.interval() }
        for _ in 1...3 { play.interval(100, latency: 2000) }
        #expect(play.pace.allowed == 750)
        let before = play.now
        play.interval(100, latency: 2000)
        #expect(play.pace.allowed < 750 && play.now - before >= 2000 * ms)
    }

    @Test("A limit that does not make answers come sooner is lifted, and that is how long answers take then")
    func inVain() {
        var play = Play()
        for _ in 1...5 { play.interval() }
        var times: [Double] = []
        for _ in 1...8 {
            if let time = play.interval(play.pace.allowed == .max ? 100 : play.pace.allowed / 10, latency: 1000) {
                times.append(time)
            }
        }
        #expect(times == [1_000_000])
        #expect(play.pace.allowed == .max)
    }

    @Test("A pool respects the streams of a turn, and does not grow for lack of them")
    func pool() {
        var pool = ConnectionPool(limits: .init(), now: 0)
        _ = pool.tick(now: 0, answered: 0)
        pool.isUp(0, streams: 8, now: 0)
        pool.allow(3, answered: 0)
        for _ in 0..<3 {
            #expect(pool.pick() == 0 && pool.hasStream)
            pool.willSend(0)
        }
        #expect(pool.pick() == nil && !pool.hasStream && pool.sentOfAllowance == 3)
        #expect(!pool.growth.starved)
        pool.allow(.max, answered: 0)
        for _ in 0..<5 {
            #expect(pool.pick() == 0)
            pool.willSend(0)
        }
        #expect(pool.pick() == nil && pool.growth.starved, "now it is the streams")
    }

    @Test("The first requests of a run double with each round trip")
    func firstRequests() {
        var pool = ConnectionPool(limits: .init(), now: 0)
        _ = pool.tick(now: 0, answered: 0)
        pool.isUp(0, streams: 2000, now: 0)
        var (answered, rounds) = (0, [Int]())
        while pool.isStarting {
            pool.allow(.max, answered: UInt64(answered))
            while pool.pick() != nil { pool.willSend(0) }
            rounds.append(pool.inFlight)
            for _ in 0..<pool.inFlight { pool.didEnd(0, answered: true, accepted: true, now: 0) }
            answered += rounds.last ?? 0
        }
        #expect(rounds == [32, 32, 64, 128, 256, 512, 1000])
    }
}
