import APNSBatchTestSupport
import Testing

@testable import APNSBatchModel
@testable import APNSBatchSending

@Suite("Rate pace", .ownThread, .serialized) struct RatePaceTests {
    struct Limit: CustomTestStringConvertible {
        var rate: Double
        /// The number of requests that may arrive at once; nil if the server counts by seconds.
        var burst: Double?
        /// The round-trip time, in milliseconds.
        var roundTrip: UInt64
        var lanes = 1
        var retryAfter: Double?

        var testDescription: String {
            let kind = burst.map { "bursts of \(Int($0))" } ?? "by seconds"
            return "\(Int(rate))/s, \(kind), \(roundTrip) ms, \(lanes) lanes, \(retryAfter ?? 0) s"
        }
    }

    private static let limits = [
        Limit(rate: 200, burst: 50, roundTrip: 5), Limit(rate: 200, burst: 50, roundTrip: 100, lanes: 4),
        Limit(rate: 200, burst: 200, roundTrip: 5, lanes: 2), Limit(rate: 200, burst: 200, roundTrip: 500),
        Limit(rate: 200, burst: 200, roundTrip: 5, retryAfter: 3), Limit(rate: 200, roundTrip: 5, lanes: 2),
        Limit(rate: 2000, burst: 50, roundTrip: 5, lanes: 4), Limit(rate: 2000, burst: 50, roundTrip: 500, lanes: 2),
        Limit(rate: 2000, burst: 200, roundTrip: 5, lanes: 2), Limit(rate: 2000, burst: 200, roundTrip: 100),
        Limit(rate: 2000, burst: 2000, roundTrip: 5, retryAfter: 3), Limit(rate: 2000, roundTrip: 5),
        Limit(rate: 2000, roundTrip: 100, lanes: 2), Limit(rate: 2000, roundTrip: 500, lanes: 2),
        Limit(rate: 20_000, burst: 200, roundTrip: 5), Limit(rate: 20_000, roundTrip: 100),
    ]

    @Test(
        "The pace settles at the server's rate within a minute, at little cost",
        arguments: limits)
    func settles(limit: Limit) {
        let server = RateServer(limit.burst.map { .bucket($0) } ?? .window, rate: limit.rate)
        let rows = Int(60 * limit.rate)
        let report = PaceModel.run(
            PaceModel(
                rows, server, roundTrip: limit.roundTrip, lanes: limit.lanes, retryAfter: limit.retryAfter))
        #expect(report.share >= 0.9, "\(report.share) of the rate")
        #expect(Double(report.requests) <= 1.1 * Double(rows), "\(report.requests) requests")
        #expect(report.givenUp == 0)
    }

    @Test("The pace follows a changed rate within seconds", arguments: [0.5, 2])
    func changes(factor: Double) {
        var (pace, totals) = (RatePace(start: 0), AnswerSums())
        var server = RateServer(.bucket(50), rate: 1000)
        var taken: UInt64 = 0
        for millisecond in 1...60_000 as ClosedRange<UInt64> {
            let now = millisecond * 1_000_000
            if millisecond == 30_000 { server = RateServer(.bucket(50), rate: factor * 1000) }
            if millisecond == 45_000 { taken = totals.good }
            let sent = min(20, pace.allowance(now: now))
            pace.didSend(sent)
            for _ in 0..<sent {
                totals.answered += 1
                if server.takes(at: now) { totals.good += 1 } else { totals.troubledFirst += 1 }
            }
            pace.look(now: now, totals: totals)
        }
        #expect(Double(totals.good - taken) >= 0.9 * 15 * factor * 1000, "\(totals.good - taken) in 15 s")
        #expect(Double(totals.answered) <= 1.1 * Double(totals.good), "\(totals)")
    }

    @Test(
        "A share of refusals at any rate is recognised within seconds and then costs little",
        arguments: [0.01, 0.03, 0.1, 0.3, 0.5])
    func steadyShare(share: Double) {
        let rows = 200_000
        let best = PaceModel.run(PaceModel(rows, RateServer(.free), roundTrip: 50)).seconds / (1 - share)
        let report = PaceModel.run(PaceModel(rows, RateServer(.free, refusedShare: share), roundTrip: 50))
        // The last rows wait up to 15 seconds for their fifth attempt, and the detection takes up to ten seconds.
        #expect(report.seconds < 1.25 * best + 25, "\(report.seconds) s instead of \(best)")
        #expect(report.rates.suffix(3).allSatisfy { $0 == nil }, "no limit is left")
    }

    @Test(
        "A share of refusals around the threshold is not taken for a rate", arguments: [0.05, 0.055],
        [77, 154, 231, 308, 385, 462, 539, 616] as [UInt64])
    func shareAtTheLimit(share: Double, seed: UInt64) {
        let rows = 100_000
        let best = PaceModel.run(PaceModel(rows, RateServer(.free), roundTrip: 50)).seconds / (1 - share)
        let server = RateServer(.free, refusedShare: share, seed: seed)
        let report = PaceModel.run(PaceModel(rows, server, roundTrip: 50))
        #expect(report.seconds < 1.25 * best + 25, "\(report.seconds) s instead of \(best)")
    }

    @Test("There is no limit without refusals or with few of them")
    func free() {
        #expect(PaceModel.run(PaceModel(50_000, RateServer(.free), roundTrip: 5)).rates.allSatisfy { $0 == nil })
        let few = PaceModel.run(PaceModel(50_000, RateServer(.free, refusedShare: 0.02), roundTrip: 5))
        #expect(few.rates.allSatisfy { $0 == nil })
    }

    @Test("Requests are spaced, and at most 20 ms of missed time is made up")
    func spaced() {
        var bucket = TokenBucket()
        bucket.empty(now: 0)
        #expect(bucket.fill(rate: 1000, now: 500_000) == 0 && bucket.wasEmpty)
        #expect(bucket.fill(rate: 1000, now: 3_000_000) == 3)
        bucket.take(3)
        #expect(bucket.fill(rate: 1000, now: 18_000_000) == 15, "nobody looked for 15 ms")
        #expect(bucket.fill(rate: 1000, now: 19_000_000) == 5, "it was looked at, and not used")
        #expect(bucket.fill(rate: 1000, now: 3_000_000_000) == 20)
        bucket.take(25)
        #expect(bucket.fill(rate: 1000, now: 3_004_000_000) == -1, "two lanes took the same")
        #expect(bucket.fill(rate: 20, now: 3_500_000_000) == 1, "one at least")
    }

    @Test("Rows that are refused repeatedly do not affect the rate")
    func onlyRetries() {
        var pace = RatePace(start: 0)
        var totals = AnswerSums()
        for second in 1...100 as ClosedRange<UInt64> {
            // The answers are to second and later attempts, and all of them are refusals.
            totals.answered += 50
            pace.look(now: second * 1_000_000_000, totals: totals)
        }
        #expect(pace.rate == nil && pace.allowance(now: 100_000_000_000) == .max)
    }

    @Test("After an outage the rate starts low and doubles several times a second")
    func restart() {
        var pace = RatePace(start: 0)
        var totals = AnswerSums()
        pace.restart(now: 1_000_000_000, totals: totals)
        var (now, sent) = (1_000_000_000 as UInt64, [0, 0, 0])
        for second in sent.indices {
            for _ in 0..<100 {
                now += 10_000_000
                let allowed = min(1000, pace.allowance(now: now))
                pace.didSend(allowed)
                sent[second] += allowed
                (totals.answered, totals.good) = (totals.answered + UInt64(allowed), totals.good + UInt64(allowed))
                pace.look(now: now, totals: totals)
            }
        }
        #expect((20...200).contains(sent[0]), "\(sent)")
        #expect(sent[2] > 4 * sent[1] && sent[1] > 4 * sent[0], "\(sent)")
    }

    @Test("Lanes may report slightly out of order")
    func outOfOrder() {
        var pace = RatePace(start: 2_000_000_000)
        var totals = AnswerSums()
        for turn in 1...2000 as ClosedRange<UInt64> {
            let now = 2_000_000_000 + turn * 1_000_000 - (turn % 2) * 3_000_000
            (totals.answered, totals.troubledFirst) = (totals.answered + 1, totals.troubledFirst + 1)
            pace.look(now: now, totals: totals)
            pace.didSend(min(1, max(0, pace.allowance(now: now))))
        }
        #expect(pace.rate == 20, "nothing is taken, and no less is sent")
    }
}
