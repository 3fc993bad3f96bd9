import Testing

@testable import APNSBatch

/// What a server does with the requests of one millisecond after the other.
private struct Server {
    /// Requests a second, and how many at once; nil takes all.
    var bucket: (rate: Double, burst: Double)?
    /// Of all requests, whatever their rate is.
    var refusedShare = 0.0
    private var tokens = 0.0
    private var filledAt: UInt64 = 0
    private var random = SplitMix(seed: 5)

    init(rate: Double? = nil, burst: Double = 0, refusedShare: Double = 0) {
        bucket = rate.map { ($0, burst) }
        self.refusedShare = refusedShare
        tokens = burst
    }

    mutating func takes(at now: UInt64) -> Bool {
        if refusedShare > 0, random.unit() < refusedShare { return false }
        guard let bucket else { return true }
        tokens = min(bucket.burst, tokens + Double(now - filledAt) / 1e9 * bucket.rate)
        filledAt = now
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }
}

/// A sender in virtual time: turns of a millisecond, answers after a while, rows that were refused after a second or more.
private struct Sender {
    struct Report {
        var seconds = 0.0
        var requests = 0
        var givenUp = 0
        var rates: [Double?] = []
    }

    private static let turn: UInt64 = 1_000_000

    static func send(_ rows: Int, to server: Server, latency: UInt64, streams: Int = 1000) -> Report {
        var server = server
        var random = SplitMix(seed: 3)
        var pace = RatePace(start: 0)
        var start = FirstRequests()
        var totals = RatePace.Totals()
        var report = Report()
        var now: UInt64 = 0
        var fresh = rows
        var ended = 0
        var answers: [(at: UInt64, isGood: Bool, attempt: Int)] = []
        var head = 0
        var waiting: [(at: UInt64, attempt: Int)] = []
        while ended < rows, now < 600_000_000_000 {
            now += turn
            while head < answers.count, answers[head].at <= now {
                let answer = answers[head]
                head += 1
                totals.answered += 1
                if answer.isGood {
                    totals.good += 1
                    ended += 1
                } else if answer.attempt < 5 {
                    if answer.attempt == 1 { totals.refused += 1 }
                    let delay = Double(1 << (answer.attempt - 1)) * (0.5 + random.unit() / 2)
                    waiting.append((now + UInt64(delay * 1e9), answer.attempt))
                } else {
                    report.givenUp += 1
                    ended += 1
                }
            }
            totals.underWay = UInt64(answers.count - head)
            pace.look(now: now, totals: totals, isStarting: start.isOn)
            if start.isOn { start.note(answered: totals.answered) }
            var room = min(
                pace.allowance(now: now), min(streams, start.isOn ? start.allowed : streams) - answers.count + head)
            waiting.sort { $0.at > $1.at }
            var sent = 0
            while room > 0 {
                var attempt = 1
                if let due = waiting.last, due.at <= now, sent % 2 == 0 || fresh == 0 {
                    attempt = due.attempt + 1
                    waiting.removeLast()
                } else if fresh > 0 {
                    fresh -= 1
                } else {
                    break
                }
                answers.append((now + latency, server.takes(at: now + latency / 2), attempt))
                (room, sent) = (room - 1, sent + 1)
            }
            pace.didSend(sent)
            report.requests += sent
            if now % 1_000_000_000 == 0 { report.rates.append(pace.rate) }
            if head > 10_000 {
                answers.removeFirst(head)
                head = 0
            }
        }
        report.seconds = Double(now) / 1e9
        return report
    }
}

@Suite("Pace under a server's own rate") struct RatePaceTests {
    private static let limits: [(rate: Double, rows: Int)] = [(200, 5000), (2000, 20_000)]
    /// Milliseconds.
    private static let latencies: [UInt64] = [1, 5, 20]

    @Test(
        "settles at what the server takes: nine tenths of it and more, a tenth more requests than rows, none given up",
        arguments: limits, latencies)
    func settles(limit: (rate: Double, rows: Int), latency: UInt64) {
        for burst in [0.1, 1] {
            let server = Server(rate: limit.rate, burst: limit.rate * burst)
            let report = Sender.send(limit.rows, to: server, latency: latency * 1_000_000)
            let rate = Double(limit.rows) / report.seconds
            #expect(rate >= 0.88 * limit.rate, "burst \(burst): \(rate)/s")
            #expect(Double(report.requests) <= 1.15 * Double(limit.rows), "burst \(burst): \(report.requests) requests")
            #expect(report.givenUp == 0)
        }
    }

    @Test(
        "a share that is refused at any rate is found out within seconds, and costs next to no time after that",
        arguments: [0.01, 0.03, 0.1, 0.3, 0.5])
    func steadyShare(share: Double) {
        let (rows, latency) = (200_000, UInt64(50_000_000))
        let best = Sender.send(rows, to: Server(), latency: latency).seconds / (1 - share)
        let report = Sender.send(rows, to: Server(refusedShare: share), latency: latency)
        // The last rows wait for their fifth attempt, up to 15 seconds.
        #expect(report.seconds < 1.25 * best + 17, "\(report.seconds) s instead of \(best)")
        #expect(report.rates.suffix(3).allSatisfy { $0 == nil }, "no limit is left")
    }

    @Test("there is no limit as long as nothing is refused, nor for a few refusals")
    func free() {
        #expect(Sender.send(50_000, to: Server(), latency: 5_000_000).rates.allSatisfy { $0 == nil })
        let few = Sender.send(50_000, to: Server(refusedShare: 0.02), latency: 5_000_000)
        #expect(few.rates.allSatisfy { $0 == nil })
    }

    @Test("rows that are refused again and again say nothing of the rate")
    func onlyRetries() {
        var pace = RatePace(start: 0)
        var totals = RatePace.Totals()
        for second in 1...100 as ClosedRange<UInt64> {
            // Answers to second and later attempts, all of them refused.
            totals.answered += 50
            pace.look(now: second * 1_000_000_000, totals: totals)
        }
        #expect(pace.rate == nil && pace.allowance(now: 100_000_000_000) == .max)
    }

    @Test("after an outage it starts from little and doubles several times a second")
    func restart() {
        var pace = RatePace(start: 0)
        var totals = RatePace.Totals()
        pace.restart(now: 1_000_000_000, totals: totals)
        var (now, sent) = (1_000_000_000 as UInt64, [0, 0, 0])
        for second in sent.indices {
            for _ in 0..<100 {
                now += 10_000_000
                let allowed = pace.allowance(now: now)
                pace.didSend(allowed)
                sent[second] += allowed
                (totals.answered, totals.good) = (totals.answered + UInt64(allowed), totals.good + UInt64(allowed))
                pace.look(now: now, totals: totals)
            }
        }
        #expect((20...200).contains(sent[0]), "\(sent)")
        #expect(sent[2] > 4 * sent[1] && sent[1] > 4 * sent[0], "\(sent)")
    }
}
