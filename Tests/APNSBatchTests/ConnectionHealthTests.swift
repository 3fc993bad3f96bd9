import Testing

@testable import APNSBatchSending

private let second: UInt64 = 1_000_000_000

@Suite("Health of a connection") struct ConnectionHealthTests {
    /// A connection with its answers so far.
    private struct Play {
        var health = ConnectionHealth()
        var answers = 0
        var now: UInt64 = second

        mutating func good(_ count: Int = 1) { answers += count }

        /// Returns how many bad answers it takes until the connection fails, or nil.
        mutating func bad(
            _ count: Int, isFirst: Bool = true, _ evidence: ConnectionHealth.Evidence = .usual, every pause: UInt64 = 0
        ) -> Int? {
            for number in 1...count {
                answers += 1
                now += pause
                if health.noteTrouble(answers: answers, isFirst: isFirst, evidence, now: now) { return number }
            }
            return nil
        }
    }

    @Test("It fails after 24 bad answers in a row, however many good ones came before")
    func fails() {
        for before in [0, 10, 100_000] {
            var play = Play()
            play.good(before)
            #expect(play.bad(40) == 24 && play.health.isFailing)
            #expect(play.bad(40) == nil, "said once")
        }
    }

    @Test(
        "It fails at nearly all answers, and not at any share of up to half of them", arguments: [25, 40, 50, 85, 95])
    func shares(percent: Int) {
        var (play, state) = (Play(), UInt64(percent))
        for _ in 0..<20_000 where !play.health.isFailing {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            // Ten thousand a second.
            play.now += 100_000
            if Int(state >> 33) % 100 < percent { _ = play.bad(1) } else { play.good() }
        }
        #expect(play.health.isFailing == (percent > 50))
    }

    @Test("Answers to rows that were refused before prove nothing when many come in a short time")
    func rowsRefusedBefore() {
        var play = Play()
        #expect(play.bad(500, isFirst: false, every: 1000) == nil && play.health.score == 0)
    }

    @Test("Three bad answers in a row suffice if they span a second and no good one is among them")
    func fewAnswers() {
        var play = Play()
        play.good(5)
        #expect(play.bad(3, every: second / 2) == 3)
        var other = Play()
        for _ in 0..<10 {
            #expect(other.bad(2, every: second) == nil)
            other.good()
        }
        #expect(play.health.isFailing && !other.health.isFailing)
    }

    @Test("One decisive answer suffices")
    func decisive() {
        var play = Play()
        play.good(1000)
        #expect(play.bad(1, .decisive) == 1)
    }

    @Test("It serves with a good answer and few bad ones behind it, and again after it has failed")
    func serves() {
        var play = Play()
        #expect(!play.health.serves(answers: 0), "nothing is known of it")
        play.good()
        #expect(play.health.serves(answers: play.answers))
        _ = play.bad(3)
        #expect(play.health.serves(answers: play.answers))
        _ = play.bad(1)
        #expect(!play.health.serves(answers: play.answers))
        _ = play.bad(40)
        play.good(15)
        play.health.look(answers: play.answers)
        #expect(play.health.isFailing)
        play.good()
        play.health.look(answers: play.answers)
        #expect(!play.health.isFailing && play.health.serves(answers: play.answers))
    }

    @Test("A fresh connection proves itself by 1,000 good answers, or by one and ten seconds")
    func proof() {
        var play = Play()
        #expect(!play.health.hasProved(answers: 0, age: 100 * second))
        play.good()
        #expect(
            !play.health.hasProved(answers: 1, age: 9 * second) && play.health.hasProved(answers: 1, age: 10 * second))
        play.good(999)
        #expect(play.health.hasProved(answers: play.answers, age: 0))
        _ = play.bad(24)
        #expect(!play.health.hasProved(answers: play.answers, age: 100 * second))
    }
}
