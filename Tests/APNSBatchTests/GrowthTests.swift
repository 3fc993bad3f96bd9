import Testing

@testable import APNSBatchSending

private let ms: UInt64 = 1_000_000

@Suite("Growth") struct GrowthTests {
    /// A pool whose streams are all in use, and its answers.
    private struct Pool {
        var growth = Growth(target: 1, start: 0)
        var sum = AnswerSum()
        var now: UInt64 = 0
        var limits = ConnectionPool.Limits()

        /// Passes time in steps of 50 ms, each with 100 answers that took `time` milliseconds, until there is a verdict other
        /// than to stay. Returns the verdict and the time in milliseconds, or nil after a minute.
        mutating func verdict(_ time: UInt32, isSettled: Bool = true, mayGrow: Bool = true, most: UInt64 = 60_000)
            -> Said?
        {
            for _ in 0..<most / 50 {
                now += 50 * ms
                for _ in 0..<100 { sum.note(latency: time * 1000) }
                growth.starved = true
                let verdict = growth.judge(
                    now: now, sum, streams: growth.target * 1000, isSettled: isSettled, mayGrow: mayGrow, limits)
                if verdict != .stay { return Said(verdict, growth.target, at: now / ms) }
            }
            return nil
        }
    }

    private struct Said: Equatable {
        let verdict: Growth.Verdict
        let target: Int
        let time: UInt64

        init(_ verdict: Growth.Verdict, _ target: Int, at time: UInt64) {
            (self.verdict, self.target, self.time) = (verdict, target, time)
        }
    }

    @Test("While answers are as quick as ever, each doubling follows the last one after the time of an answer")
    func growsAtOnce() {
        var pool = Pool()
        pool.limits.maximum = 20
        #expect(pool.verdict(200) == Said(.grow, 2, at: 200))
        #expect(pool.verdict(200) == Said(.grow, 4, at: 400))
        #expect(pool.verdict(240) == Said(.grow, 8, at: 650), "a fifth longer is the same")
        #expect(pool.verdict(200, isSettled: false, most: 5000) == nil, "not while connections are being opened")
        #expect(pool.verdict(200) == Said(.grow, 16, at: 5700))
        #expect(pool.verdict(200, mayGrow: false, most: 5000) == nil, "not while the sender is busy")
        #expect(pool.verdict(200) == Said(.grow, 20, at: 10_750))
        #expect(pool.verdict(200) == nil)
    }

    @Test("Without rows that wait for a stream nothing grows")
    func notStarved() {
        var pool = Pool()
        for _ in 0..<100 {
            pool.now += 50 * ms
            for _ in 0..<100 { pool.sum.note(latency: 1000) }
            #expect(pool.growth.judge(now: pool.now, pool.sum, streams: 1000, pool.limits) == .stay)
        }
    }

    /// Returns a pool that has measured 100 ms with one connection, and 200 ms since.
    private static func slower() -> Pool {
        var pool = Pool()
        pool.limits.maximum = 1
        #expect(pool.verdict(100, most: 1000) == nil)
        pool.limits.maximum = 8
        return pool
    }

    @Test("When answers take longer than the best ones, a doubling is a trial, which is undone if the rate stays")
    func trial() {
        var pool = Self.slower()
        #expect(pool.verdict(150) == Said(.grow, 2, at: 1050), "the first interval began with quick answers")
        // Twice the requests, and answers take twice the time. The verdict is about requests that were sent since, and needs
        // two intervals.
        #expect(pool.verdict(300) == Said(.shrink, 1, at: 1600))
        #expect(pool.verdict(150, most: 9000) == nil, "they were surplus, so that the next trial waits for 10 s")
        #expect(pool.verdict(150) == Said(.grow, 2, at: 12_300))
        #expect(pool.verdict(300) == Said(.shrink, 1, at: 12_850))
        #expect(pool.verdict(150, most: 20_000) == nil, "and the one after it for 20 s")
        #expect(pool.verdict(150) == Said(.grow, 2, at: 33_550))
    }

    @Test("A trial that raises the rate is followed by doublings at once")
    func success() {
        var pool = Self.slower()
        #expect(pool.verdict(150) == Said(.grow, 2, at: 1050))
        #expect(pool.verdict(160) == Said(.grow, 4, at: 1350))
        #expect(pool.verdict(160) == Said(.grow, 8, at: 1650))
    }

    @Test("Answers that take twice the time of the best ones lead to a trial with fewer connections")
    func fewer() {
        var pool = Pool()
        pool.limits.maximum = 8
        for target in [2, 4, 8] { #expect(pool.verdict(100)?.target == target) }
        #expect(pool.verdict(100, most: 1000) == nil)
        #expect(pool.verdict(400, most: 3000) == nil, "not before three seconds")
        var queue = pool
        // With half of the requests answers take half of the time: then the other half queued.
        #expect(queue.verdict(400)?.target == 4)
        #expect(queue.verdict(215, most: 3000) == nil)
        #expect(queue.verdict(215)?.target == 3, "and on to one and a half of what is needed")
        // If answers take as long as before, the connections come back, and that is the time of an answer now.
        #expect(pool.verdict(400)?.target == 4)
        let back = pool.verdict(400)
        #expect(back?.verdict == .grow && back?.target == 8)
        #expect(pool.verdict(400) == nil)
    }

    @Test("A queue that is there without the connections is no reason for fewer")
    func answersTake() {
        var pool = Pool()
        pool.limits.maximum = 8
        for target in [2, 4, 8] { #expect(pool.verdict(100)?.target == target) }
        #expect(pool.verdict(100, most: 1000) == nil)
        pool.growth.answersTake(400_000)
        #expect(pool.verdict(400) == nil)
    }

    @Test("No verdict is given by answers to requests from before the change", arguments: [50, 500, 3000])
    func patience(time: UInt32) {
        var pool = Pool()
        pool.limits.maximum = 1
        #expect(pool.verdict(time, most: 20_000) == nil && pool.verdict(time * 3 / 2, most: 8000) == nil)
        pool.limits.maximum = 2
        #expect(pool.verdict(time * 3 / 2)?.verdict == .grow)
        let began = pool.now
        #expect(pool.verdict(time * 3)?.verdict == .shrink)
        #expect(pool.now - began >= UInt64(time) * 3 * ms, "\((pool.now - began) / ms) ms")
    }
}
