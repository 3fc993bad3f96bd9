import APNSBatchNotification
import Testing

@testable import APNSBatchModel
@testable import APNSBatchSending

@Suite("Circuit breaker") struct CircuitBreakerTests {
    private typealias Rule = CircuitBreaker.Rule
    private typealias Totals = CircuitBreaker.Totals
    private typealias Trip = CircuitBreaker.Trip

    /// Passes this percentage of answers with the reason, spread evenly. Returns the number of answers at the stop, and
    /// the stop.
    private func stop(
        _ reason: KnownReason, percent: UInt64, of answers: UInt64, _ limits: CircuitBreaker.Limits = .init()
    ) throws -> (answered: UInt64, trip: Trip)? {
        let number = try #require(limits.rules.firstIndex { $0.reason == reason })
        var breaker = CircuitBreaker(limits)
        for answered in 1...answers {
            var totals = Totals(answered: answered, refused: Array(repeating: 0, count: limits.rules.count))
            totals.refused[number] = answered * percent / 100
            if let trip = breaker.note(totals) { return (answered, trip) }
        }
        return nil
    }

    private func limits(_ shares: [String: Campaign.CircuitBreaker.Share], window: Int = 20_000, minimum: Int = 500)
        throws -> CircuitBreaker.Limits
    {
        var given = Campaign.CircuitBreaker()
        (given.shares, given.window, given.minimum) = (shares, window, minimum)
        var campaign = Campaign(destination: .sandbox, topic: nil, credentials: .none)
        campaign.circuitBreaker = given
        try Campaign.Number.check(campaign)
        return try CircuitBreaker.Limits(given)
    }

    @Test("Tokens of the other environment stop a campaign when there are enough answers")
    func wrongEnvironment() throws {
        let found = try #require(try stop(.badDeviceToken, percent: 90, of: 2000))
        let rule = Rule(reason: .badDeviceToken, percent: 80, until: 20_000)
        #expect(found.answered == 500 && found.trip == Trip(rule: rule, count: 450, answers: 500))
        #expect(
            found.trip.text()
                == "450 of 500 answers (90 %, limit 80 %) are BadDeviceToken: do the tokens belong to the other "
                + "environment, production or sandbox?; check that the token is complete and belongs to this environment: "
                + "sandbox tokens come from debug builds")
        #expect(try stop(.badDeviceToken, percent: 90, of: 499) == nil)
    }

    @Test("Some bad tokens do not stop a campaign, and unregistered tokens have no rule")
    func others() throws {
        #expect(try stop(.badDeviceToken, percent: 79, of: 30_000) == nil)
        #expect(!Rule.defaults.contains { $0.reason == .unregistered })
    }

    @Test("An error of the rows stops a campaign only when every row has it")
    func everyRow() throws {
        #expect(try stop(.badExpirationDate, percent: 100, of: 500)?.answered == 500)
        #expect(try stop(.badExpirationDate, percent: 99, of: 20_000) == nil)
        #expect(try stop(.deviceTokenNotForTopic, percent: 85, of: 1000)?.answered == 500)
    }

    @Test("A default rule ignores late errors, and a rule of the campaign does not")
    func lateWave() throws {
        func wave(_ limits: CircuitBreaker.Limits) throws -> Trip? {
            let number = try #require(limits.rules.firstIndex { $0.reason == .badDeviceToken })
            var breaker = CircuitBreaker(limits)
            for answered in UInt64(1)...60_000 {
                var totals = Totals(answered: answered, refused: Array(repeating: 0, count: limits.rules.count))
                totals.refused[number] = answered > 30_000 ? answered - 30_000 : 0
                if let trip = breaker.note(totals) { return trip }
            }
            return nil
        }
        #expect(try wave(.init()) == nil)
        let own = try #require(try wave(try limits(["BadDeviceToken": .percent(50)], window: 1600, minimum: 100)))
        #expect(own.rule == Rule(reason: .badDeviceToken, percent: 50, until: nil))
        // The answers are those of the window of 1,600, and at most a sixteenth of it more.
        #expect((1600...1700).contains(own.answers) && own.count == (own.answers + 1) / 2)
    }

    @Test("Counts that arrive in large steps are judged correctly")
    func lumps() throws {
        var breaker = CircuitBreaker(try limits(["ServiceUnavailable": .percent(30)], window: 1000, minimum: 10))
        func totals(_ answered: UInt64, _ refused: UInt64) -> Totals {
            Totals(answered: answered, refused: [refused] + Array(repeating: 0, count: Rule.defaults.count))
        }
        #expect(breaker.note(totals(9, 9)) == nil)
        #expect(breaker.note(totals(5000, 1400)) == nil)
        #expect(breaker.note(totals(5500, 1500)) == nil)
        #expect(
            breaker.note(totals(6100, 1900))
                == Trip(rule: Rule(reason: .serviceUnavailable, percent: 30), count: 500, answers: 1100))
        #expect(breaker.note(totals(9000, 4800)) == nil, "once is enough")
    }

    @Test("Unchanged or lower counts have no effect")
    func noNews() throws {
        var breaker = CircuitBreaker(try limits(["any": .percent(1)], window: 10, minimum: 1))
        let none = Totals(answered: 0, refused: Array(repeating: 0, count: Rule.defaults.count + 1))
        #expect(breaker.note(none) == nil)
        let before = breaker
        #expect(breaker.note(none) == nil && breaker == before)
    }

    @Test("The rule any counts all answers except 200")
    func every() throws {
        let own = try limits(["any": .percent(12.5)], minimum: 8)
        var breaker = CircuitBreaker(own)
        var totals = Totals(answered: 8, refused: Array(repeating: 0, count: own.rules.count))
        totals.refused[0] = 1
        let noted = breaker.note(totals)
        let trip = try #require(noted)
        #expect(trip.text() == "1 of 8 answers (12.5 %, limit 12.5 %) are refusals")
    }

    /// Passes answers in order. Returns their number at the stop, and the message of the stop.
    private func stop(_ answers: [Answer], _ limits: CircuitBreaker.Limits = .init()) -> (answered: Int, text: String)?
    {
        var counts = AnswerCounts(RuleIndex(limits.rules))
        var breaker = CircuitBreaker(limits)
        for (number, answer) in answers.enumerated() {
            counts.answered += 1
            if answer.status != 200 { counts.note(answer) }
            let totals = Totals(answered: counts.answered, refused: counts.refused)
            if let trip = breaker.note(totals) { return (number + 1, trip.text(example: counts.example)) }
        }
        return nil
    }

    private static let ofNoDevice = [
        Answer(status: 301), Answer(status: 400), Answer(status: 400, reason: .unknown("NewReason")),
        Answer(status: 401), Answer(status: 403), Answer(status: 404), Answer(status: 407), Answer(status: 411),
        Answer(status: 413, reason: .known(.payloadTooLarge)),
    ]

    @Test("A refusal that no device can cause stops a campaign when every row gets it", arguments: ofNoDevice)
    func noDevice(answer: Answer) {
        let stopped = stop(Array(repeating: answer, count: 600))
        #expect(stopped?.answered == 500)
        #expect(
            stopped?.text
                == "all of the first 500 answers are refusals (such as \(answer.text)) that no single device can "
                + "cause: check host, port, proxy and credentials")
        let accepted = [Answer(status: 200)]
        #expect(stop(accepted + Array(repeating: answer, count: 20_000)) == nil, "one row was accepted")
    }

    @Test("Different refusals that no device can cause count together, unless any is never")
    func severalOfNoDevice() throws {
        let mixed = (0..<600).map { Self.ofNoDevice[$0 % Self.ofNoDevice.count] }
        #expect(stop(mixed)?.answered == 500)
        #expect(stop(mixed, try limits(["any": .never])) == nil)
        #expect(stop(mixed, try limits(["any": .percent(100)], minimum: 501))?.answered == 501)
    }

    private static let ofDevices = [
        Answer(status: 410), Answer(status: 410, reason: .known(.unregistered)),
        Answer(status: 410, reason: .known(.expiredToken)), Answer(status: 429), Answer(status: 500),
        Answer(status: 503), Answer(status: 503, reason: .unknown("New")),
    ]

    @Test("Refusals that a device causes and retried answers do not count", arguments: ofDevices)
    func ofDevice(answer: Answer) {
        #expect(stop(Array(repeating: answer, count: 20_000)) == nil)
    }

    @Test("A reason without an alarm gets the explanation from the table")
    func explained() {
        let trip = Trip(rule: Rule(reason: .serviceUnavailable, percent: 50), count: 2, answers: 3)
        #expect(
            trip.text()
                == "2 of 3 answers (66.6 %, limit 50 %) are ServiceUnavailable: APNs is not available; try again later; "
                + "developer.apple.com/system-status says whether APNs is in trouble")
    }

    @Test("A share from the campaign replaces the default and never disables it")
    func replaces() throws {
        let own = try limits(["BadDeviceToken": .never, "Unregistered": .percent(40)])
        #expect(own.rules.first == Rule(reason: .unregistered, percent: 40))
        #expect(own.rules.count == Rule.defaults.count)
        #expect(!own.rules.contains { $0.reason == .badDeviceToken })
        #expect(try limits([:]) == CircuitBreaker.Limits())
    }

    private static let wrong: [([String: Campaign.CircuitBreaker.Share], Int, Int, String)] = [
        (
            ["BadToken": .percent(1)], 100, 10,
            "circuit breaker: expected one of APNs's reasons, any or invalid, found \"BadToken\""
        ),
        (
            ["any": .percent(0)], 100, 10,
            "circuit breaker: any: expected more than 0 and at most 100 percent, found 0.0"
        ),
        (
            ["any": .percent(101)], 100, 10,
            "circuit breaker: any: expected more than 0 and at most 100 percent, found 101.0"
        ),
        (
            ["any": .percent(.nan)], 100, 10,
            "circuit breaker: any: expected more than 0 and at most 100 percent, found nan"
        ),
        ([:], 9, 1, "stop window: expected 10 to 1000000000 answers, found 9"),
        ([:], 100, 0, "stop minimum: expected 1 to 1000000000 answers, found 0"),
        ([:], 100, 101, "stop minimum: expected at most the window of 100 answers, found 101"),
    ]

    @Test("An invalid rule is refused", arguments: wrong)
    func refused(shares: [String: Campaign.CircuitBreaker.Share], window: Int, minimum: Int, text: String) {
        #expect(throws: CampaignError(.configuration, text)) { try limits(shares, window: window, minimum: minimum) }
    }

    @Test("The counts of lanes are added for each provider separately")
    func sums() throws {
        let own = try limits(["ServiceUnavailable": .percent(60)], window: 100, minimum: 10)
        let counters = SharedCounters(own, outage: .campaign(patience: 1 << 60), lanes: 3, providers: 2)
        func counts(_ answered: UInt64, _ refused: [KnownReason]) -> AnswerCounts {
            var counts = AnswerCounts(counters.book)
            counts.answered = answered
            for reason in refused { counts.note(Answer(status: 503, reason: .known(reason))) }
            return counts
        }
        let spaced = KnownReason.serviceUnavailableSpaced
        counters.publish(counts(4, [.serviceUnavailable, spaced, .shutdown]), lane: 0, provider: 1)
        counters.publish(counts(90, []), lane: 1, provider: 0)
        #expect(counters.judge(1) == .some(nil))
        counters.publish(counts(6, [.serviceUnavailable, spaced, spaced]), lane: 2, provider: 1)
        #expect(counters.judge(0) == .some(nil))
        #expect(counters.judge(1) == .some(nil))
        counters.publish(counts(5, [spaced, spaced, spaced, spaced]), lane: 1, provider: 1)
        let rule = Rule(reason: .serviceUnavailable, percent: 60)
        #expect(counters.judge(1) == .some(Trip(rule: rule, count: 9, answers: 15)))
        #expect(counters.judge(0) == .some(nil))
    }

    @Test("An answer that no rule concerns triggers no check")
    func news() {
        var counts = AnswerCounts(RuleIndex([Rule(reason: .badDeviceToken, percent: 80)]))
        counts.note(Answer(status: 410, reason: .known(.unregistered)))
        counts.note(Answer(status: 400, reason: .unknown("New")))
        #expect(!counts.hasNews && counts.refused == [0])
        counts.note(Answer(status: 400, reason: .known(.badDeviceToken)))
        #expect(counts.hasNews && counts.refused == [1])
    }
}
