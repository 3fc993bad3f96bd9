import Testing

@testable import APNSBatchModel
@testable import APNSBatchSending

private let ms: UInt64 = 1_000_000

@Suite("Stream pace") struct StreamPaceTests {
    /// Simulates one interval of 100 ms.
    private static func interval(
        _ pace: inout StreamPace, _ number: Int, answers: Int = 100, latency: UInt32 = 1000,
        isLimiting: Bool = true
    ) {
        let inFlight = min(1000, pace.allowed)
        for _ in 0..<answers { pace.note(latency: latency, inFlight: inFlight) }
        pace.isLimiting = isLimiting
        pace.adjust(now: UInt64(number) * 100 * ms, streams: 1000)
    }

    @Test("Later and fewer answers lower the pace by a quarter, and late answers alone do not")
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
