import APNSBatchNotification
import Testing

@testable import APNSBatchModel
@testable import APNSBatchSending

private let second: UInt64 = 1_000_000_000

@Suite("Outage detection") struct OutageTests {
    /// Simulates an outage with ten checks per second.
    private struct Play {
        var outage = Outage(.campaign(patience: 3600 * second), start: 0)
        var totals = AnswerSums()
        var now: UInt64 = 0
        var news: [Outage.News] = []
        var probes: [UInt64] = []
        /// Whether a fresh connection gets one of the bad answers.
        var isFreshBad = true

        /// - Parameters:
        ///   - good, bad, badAgain, lost: the numbers of answers in a tenth of a second, unless only probes are sent.
        ///   - probeIsGood: whether probes succeed.
        mutating func play(
            seconds: Int, good: UInt64 = 0, bad: UInt64 = 0, badAgain: UInt64 = 0, lost: UInt64 = 0,
            probeIsGood: Bool = false
        ) {
            for _ in 0..<10 * seconds {
                playTenth(good: good, bad: bad, badAgain: badAgain, lost: lost, probeIsGood: probeIsGood)
            }
        }

        mutating func playTenth(good: UInt64, bad: UInt64, badAgain: UInt64, lost: UInt64, probeIsGood: Bool) {
            now += second / 10
            if outage.phase == .open {
                if outage.isProbeDue(now: now) {
                    probes.append(now / second)
                    outage.didProbe(now: now, jitter: 1)
                    totals.good += probeIsGood ? 1 : 0
                    totals.troubled += probeIsGood ? 0 : 1
                }
            } else {
                totals.good += good
                totals.troubled += bad + badAgain
                totals.troubledFirst += bad
                totals.fresh += isFreshBad && bad + badAgain > 0 ? 1 : 0
                totals.silent += lost
            }
            if let news = outage.look(now: now, totals: totals) { self.news.append(news) }
        }
    }

    @Test(
        "An outage begins after seconds of mostly 429 or 5xx, probes ever more rarely, and ends")
    func opensAndCloses() {
        var play = Play()
        play.play(seconds: 5, good: 100)
        play.play(seconds: 2, good: 1, bad: 30)
        #expect(play.news == [], "two seconds may be an accident")
        play.play(seconds: 3, good: 1, bad: 30)
        #expect(play.news == [.opened(.refusals(300.0 / 310))])
        play.play(seconds: 1200)
        let steps = zip(play.probes.dropFirst(), play.probes).map { $0 - $1 }
        #expect(steps.count >= 7 && zip(steps.dropFirst(), steps).allSatisfy { $0 > $1 }, "\(play.probes)")
        #expect(steps.allSatisfy { $0 <= 900 } && play.probes[0] <= 15)
        play.play(seconds: 1100, good: 10, probeIsGood: true)
        #expect(play.news.count == 2 && play.news.last == .closed && play.outage.phase == .closed)
        #expect(!play.outage.excusesAttempts)
    }

    @Test("Attempts do not count during an outage and while sending restarts")
    func excuses() {
        var play = Play()
        play.play(seconds: 1, good: 100)
        #expect(!play.outage.excusesAttempts)
        play.play(seconds: 2, bad: 100)
        #expect(play.outage.excusesAttempts, "it looks like an outage")
        play.play(seconds: 5, bad: 100)
        #expect(play.outage.phase == .open && play.outage.excusesAttempts)
        play.play(seconds: 5, good: 0, probeIsGood: true)
        #expect(play.outage.phase == .recovering(good: 0) || play.outage.phase == .recovering(good: 1))
        #expect(play.outage.excusesAttempts)
    }

    @Test("A server that fails again at once keeps the outage and its probe interval")
    func failsAgain() {
        var play = Play()
        play.play(seconds: 8, bad: 100)
        play.play(seconds: 60)
        let probes = play.probes.count
        play.play(seconds: 600, bad: 10, probeIsGood: true)
        #expect(play.news.count == 1, "said once")
        #expect(play.probes.count < probes + 12, "\(play.probes)")
    }

    @Test("A server that refuses most requests for some seconds keeps the outage, but not for one second")
    func failsHalf() {
        for isShort in [false, true] {
            var play = Play()
            play.play(seconds: 8, bad: 100)
            while play.outage.phase == .open {
                play.playTenth(good: 0, bad: 0, badAgain: 0, lost: 0, probeIsGood: true)
            }
            play.play(seconds: isShort ? 1 : 5, good: 40, bad: 60)
            #expect((play.outage.phase == .open) == !isShort && play.news.count == 1)
            play.play(seconds: 5, good: 60, bad: 40)
            #expect((play.news.last == .closed) == isShort)
        }
    }

    @Test("An outage that exceeds the patience ends the run once")
    func outlasts() {
        var play = Play()
        play.play(seconds: 8, bad: 100)
        play.play(seconds: 3590)
        #expect(play.news.count == 1)
        play.play(seconds: 20)
        #expect(play.news.last == .outlasted(.refusals(1), 3600 * second) && play.news.count == 2)
    }

    @Test("Time in which the process stood still is not an outage")
    func standstill() {
        var play = Play()
        play.play(seconds: 8, bad: 100)
        play.now += 7200 * second
        play.play(seconds: 5)
        #expect(play.news.count == 1)
    }

    @Test("Bad answers of old connections alone are no outage, however many; attempts do not count meanwhile")
    func freshConnection() {
        var play = Play()
        play.isFreshBad = false
        play.play(seconds: 5, good: 100)
        #expect(!play.outage.isDoubted)
        play.play(seconds: 60, bad: 30)
        #expect(play.news == [] && play.outage.excusesAttempts)
        #expect(play.outage.isDoubted, "so that pools try a fresh connection")
        play.isFreshBad = true
        play.play(seconds: 1, bad: 30)
        #expect(play.news == [.opened(.refusals(1))] && !play.outage.isDoubted)
        play.play(seconds: 2)
        play.isFreshBad = false
        play.play(seconds: 2400, good: 100, probeIsGood: true)
        #expect(play.news.last == .closed)
        play.play(seconds: 60, bad: 30)
        #expect(play.news.last == .closed, "what was known before the last outage proves nothing")
    }

    @Test("Rows that are always refused are not an outage, also when no others remain")
    func badRows() {
        var play = Play()
        play.play(seconds: 30, good: 97, bad: 3)
        play.play(seconds: 600, badAgain: 3)
        #expect(play.news == [] && play.outage.phase == .closed)
    }

    @Test("More than half of the answers refused for long is an outage")
    func mostAnswers() {
        var play = Play()
        play.play(seconds: 9, good: 40, bad: 60)
        #expect(play.news == [] && play.outage.excusesAttempts)
        play.play(seconds: 4, good: 40, bad: 60)
        #expect(play.news == [.opened(.refusals(0.6))])
        var flickering = Play()
        for _ in 0..<4 {
            flickering.play(seconds: 3, good: 40, bad: 60)
            flickering.play(seconds: 1, good: 55, bad: 45)
        }
        #expect(flickering.news.count == 1, "a second that was somewhat better ends nothing")
    }

    @Test("Less than half of the answers refused is no outage")
    func lessThanHalf() {
        var play = Play()
        play.play(seconds: 60, good: 60, bad: 40)
        #expect(play.news == [] && !play.outage.excusesAttempts)
        play.play(seconds: 4, good: 40, bad: 60)
        #expect(play.outage.excusesAttempts)
        play.play(seconds: 2, good: 70, bad: 30)
        #expect(play.news == [] && play.outage.phase == .closed)
    }

    /// Returns a play of rows that are refused at once and then again every three seconds.
    private func fewRows(good: UInt64, bad: UInt64) -> Play {
        var play = Play()
        play.totals = AnswerSums(good: good, troubled: bad, troubledFirst: bad)
        for _ in 0..<20 {
            play.play(seconds: 1, badAgain: 0)
            play.totals.troubled += play.outage.phase == .open ? 0 : bad
            play.totals.fresh += 1
            play.play(seconds: 2, badAgain: 0)
        }
        return play
    }

    @Test("A few refused rows are an outage when none succeeded, and their second attempt does not count")
    func fewRows() {
        for bad in [1, 5, 9] as [UInt64] {
            #expect(fewRows(good: 0, bad: bad).news == [.opened(.refusals(1))])
            #expect(fewRows(good: 1, bad: bad).news == [], "of a few rows it may be the rows' fault")
        }
        var play = Play()
        play.totals = AnswerSums(good: 0, troubled: 5, troubledFirst: 5)
        play.play(seconds: 1)
        #expect(!play.outage.excusesAttempts)
        play.play(seconds: 1)
        #expect(play.outage.excusesAttempts)
    }

    @Test("Time in which the process stood still does not prolong trouble")
    func standsStill() {
        var play = Play()
        play.playTenth(good: 0, bad: 1, badAgain: 0, lost: 0, probeIsGood: true)
        play.now += 15 * second
        play.playTenth(good: 0, bad: 1, badAgain: 0, lost: 0, probeIsGood: true)
        #expect(play.news == [] && play.outage.phase != .open)
        play.play(seconds: 3, good: 1)
        #expect(play.news == [] && play.outage.phase == .closed)
    }

    @Test("A few rows that are always refused after an outage are not another outage")
    func rowsLeft() {
        var play = Play()
        play.play(seconds: 8, bad: 100)
        while play.news.count < 2 { play.playTenth(good: 10, bad: 0, badAgain: 0, lost: 0, probeIsGood: true) }
        #expect(play.outage.phase == .closed)
        play.totals.troubledFirst += 9
        play.play(seconds: 60, badAgain: 1)
        #expect(play.news.count == 2 && play.outage.phase == .closed)
    }

    @Test("A sender probes twice a minute at least, because callers wait")
    func sender() {
        var play = Play()
        play.outage = Outage(.sender(patience: 1 << 60), start: 0)
        play.play(seconds: 5, good: 100)
        play.play(seconds: 1200, bad: 30)
        let steps = zip(play.probes.dropFirst(), play.probes).map { $0 - $1 }
        #expect(steps.count >= 40 && steps.allSatisfy { $0 <= 31 }, "\(play.probes)")
    }

    @Test("An outage of one team does not limit another team")
    func teams() {
        let counters = SharedCounters(
            CircuitBreaker.Limits(), outage: .campaign(patience: 3600 * second), lanes: 1, providers: 2)
        var counts = [AnswerCounts(counters.book), AnswerCounts(counters.book)]
        for tenth in 1...100 as ClosedRange<UInt64> {
            for _ in 0..<10 {
                counts[0].answered += 1
                counts[0].noteTrouble(Answer(status: 503), isFirst: true, isFresh: true)
                counts[1].answered += 1
            }
            for provider in 0...1 {
                counters.publish(counts[provider], lane: 0, provider: provider)
                _ = counters.lookAtHealth(
                    counts[provider], inFlight: 0, lane: 0, provider: provider, now: second + tenth * second / 10,
                    isStarting: false)
            }
        }
        #expect(counters.mode(0).contains(.probing) && counters.mode(1) == [])
    }

    @Test("Answers for which a connection is to blame are neither good nor bad ones of the provider")
    func ofConnection() {
        let counters = SharedCounters(
            CircuitBreaker.Limits(), outage: .campaign(patience: 3600 * second), lanes: 1, providers: 1)
        var counts = AnswerCounts(counters.book)
        for tenth in 1...300 as ClosedRange<UInt64> {
            // Of all answers nine tenths are bad, and of those of the provider a third at first, and then all.
            for number in 0..<20 {
                counts.answered += 1
                if number < 17 {
                    counts.noteTroubleOfConnection()
                } else if number == 17 || tenth > 200 {
                    counts.noteTrouble(Answer(status: 503), isFirst: true, isFresh: true)
                }
            }
            counters.publish(counts, lane: 0, provider: 0)
            _ = counters.lookAtHealth(
                counts, inFlight: 0, lane: 0, provider: 0, now: second + tenth * second / 10, isStarting: false)
            if tenth == 200 { #expect(counters.mode(0).isDisjoint(with: [.probing, .excused])) }
        }
        #expect(counters.mode(0).contains(.probing))
    }

    @Test("A lane knows whether a connection of another lane serves, and not of its own")
    func othersServe() {
        let counters = SharedCounters(
            CircuitBreaker.Limits(), outage: .campaign(patience: 3600 * second), lanes: 3, providers: 2)
        func serve(_ lane: Int, _ provider: Int, at now: UInt64) -> Bool {
            counters.othersServe(lane, provider, within: 5 * second, now: now)
        }
        #expect(!serve(0, 1, at: 10 * second))
        counters.publishServing(at: 10 * second, lane: 2, provider: 1)
        #expect(serve(0, 1, at: 10 * second) && serve(1, 1, at: 14 * second))
        #expect(!serve(2, 1, at: 10 * second), "its own")
        #expect(!serve(0, 0, at: 10 * second), "another provider")
        #expect(!serve(0, 1, at: 15 * second), "too long ago")
        counters.publishServing(at: 0, lane: 2, provider: 1)
        #expect(!serve(0, 1, at: 11 * second), "it fails now")
    }

    @Test("Lost requests without any answer are an outage once there were answers")
    func silence() {
        var play = Play()
        play.play(seconds: 40, lost: 1)
        #expect(play.news == [], "nothing was ever answered")
        play.play(seconds: 1, good: 10)
        play.play(seconds: 9, lost: 1)
        #expect(play.news == [])
        play.play(seconds: 2, lost: 1)
        #expect(play.news == [.opened(.silence)])
        play.play(seconds: 100, good: 10, probeIsGood: true)
        #expect(play.news.last == .closed)
    }

    @Test("Lost requests are no outage while others are answered")
    func lostRows() {
        var play = Play()
        play.play(seconds: 60, good: 1, lost: 5)
        #expect(play.news == [])
    }
}
