import APNSBatchBasics
import APNSBatchNotification
import Synchronization

/// The counts of one lane's answers of one provider since the start of the session.
struct AnswerCounts {
    /// The rules by reason; the same for all lanes.
    private let book: RuleIndex
    /// The number of answers of any kind.
    var answered: UInt64 = 0
    /// The number of refusals by rule.
    private(set) var refused: [UInt64]
    /// Whether there are refusals of a rule for which no verdict was asked yet.
    var hasNews = false
    /// The number of answers of 429 and 5xx, of those to first attempts, and of first attempts lost while no answer came.
    private(set) var troubled: UInt64 = 0
    private(set) var troubledFirst: UInt64 = 0
    private(set) var silent: UInt64 = 0
    /// The number of answers of 429 and 5xx for which a connection is to blame, and of the others that fresh connections got.
    private(set) var ofConnection: UInt64 = 0
    private(set) var fresh: UInt64 = 0
    /// Whether some of these are not in the shared counters yet.
    var hasTrouble = false
    private(set) var lastTrouble: Answer?
    /// The last refusal that no device can cause.
    private(set) var example: Answer?

    init(_ book: RuleIndex) {
        self.book = book
        refused = Array(repeating: 0, count: book.count)
    }

    /// Counts an answer other than 200.
    mutating func note(_ answer: Answer) {
        if let every = book.every { count(every) }
        if case .known(let reason) = answer.reason, let rule = book.rule(of: reason) { count(rule) }
        if let noDevice = book.noDevice, answer.blamesNoDevice {
            count(noDevice)
            example = answer
        }
    }

    mutating func noteTrouble(_ answer: Answer, isFirst: Bool, isFresh: Bool) {
        troubled += 1
        if isFirst { troubledFirst += 1 }
        if isFresh { fresh += 1 }
        lastTrouble = answer
        hasTrouble = true
    }

    mutating func noteTroubleOfConnection() {
        ofConnection += 1
        hasTrouble = true
    }

    mutating func noteSilence() {
        silent += 1
        hasTrouble = true
    }

    private mutating func count(_ rule: Int) {
        refused[rule] += 1
        hasNews = true
    }
}

/// Finds the rule that counts a reason.
struct RuleIndex: Sendable {
    let count: Int
    /// The rule that counts all answers but 200.
    let every: Int?
    /// The rule that counts refusals that no device can cause.
    let noDevice: Int?
    private let rules: [Int8]

    init(_ rules: [CircuitBreaker.Rule]) {
        count = rules.count
        every = rules.firstIndex { $0.subject == .refusals }
        noDevice = rules.firstIndex { $0.subject == .noDevice }
        var found = KnownReason.allCases.map { reason in Int8(rules.firstIndex { $0.reason == reason } ?? -1) }
        let (one, other) = (
            Int(KnownReason.serviceUnavailable.rawValue), Int(KnownReason.serviceUnavailableSpaced.rawValue)
        )
        // The two are the same reason, spelt in two ways.
        if found[other] < 0 { found[other] = found[one] }
        self.rules = found
    }

    func rule(of reason: KnownReason) -> Int? {
        let rule = rules[Int(reason.rawValue)]
        return rule < 0 ? nil : Int(rule)
    }
}

/// The shared counters of the answers of all providers, and the verdicts on them: one circuit breaker for each provider,
/// over all lanes.
///
/// A lane writes only its own numbers, with a few relaxed stores in a turn with answers. Only after a turn with refusals
/// that a rule counts does it ask for a verdict; if another lane is asking at that moment, it asks in its next turn.
package final class SharedCounters: Sendable {
    let book: RuleIndex
    private let lanes: Int
    private let providers: Int
    /// For each lane, and in it for each provider: the number of answers, the numbers of the rules and those of the health.
    /// After all lanes, the mode of each provider.
    private let slots: AtomicSlots
    /// The time of the last answer of any lane, as far as lanes have published it.
    private let answeredAt = Atomic<UInt64>(0)
    private let breakers: Guarded<[CircuitBreaker]>
    private let health: Guarded<[ProviderHealth]>

    init(_ limits: CircuitBreaker.Limits, outage: Outage.Limits, lanes: Int, providers: Int) {
        book = RuleIndex(limits.rules)
        self.lanes = lanes
        self.providers = providers
        slots = AtomicSlots(count: (lanes + 1) * providers * Self.stride(book))
        health = Guarded(Array(repeating: ProviderHealth(outage), count: providers))
        breakers = Guarded(Array(repeating: CircuitBreaker(limits), count: providers))
    }

    /// The number of elements per lane and provider, so that lanes do not share cache lines.
    private static func stride(_ book: RuleIndex) -> Int { (1 + book.count + healthNumbers + 15) & ~15 }

    /// The number of values that follow the rules: 429 and 5xx, those to first attempts, lost requests, requests in flight,
    /// 429 and 5xx of single connections, those of fresh ones, and when a connection last served.
    private static let healthNumbers = 7

    private func slot(_ lane: Int, _ provider: Int) -> UnsafeMutablePointer<Atomic<UInt64>> {
        unsafe slots.address(of: (lane * providers + provider) * Self.stride(book))
    }

    func publish(_ counts: borrowing AnswerCounts, lane: Int, provider: Int) {
        let own = unsafe slot(lane, provider)
        unsafe own[0].store(counts.answered, ordering: .relaxed)
        guard counts.hasNews else { return }
        for rule in counts.refused.indices { unsafe own[1 + rule].store(counts.refused[rule], ordering: .releasing) }
    }

    /// Publishes that this lane has had answers since its last call.
    func noteAnswers(now: UInt64) { answeredAt.store(now, ordering: .relaxed) }

    /// Whether some lane has had an answer within the last `within` nanoseconds.
    func hasAnswers(within: UInt64, now: UInt64) -> Bool { now < answeredAt.load(ordering: .relaxed) + within }

    /// Whether there has been any answer of this provider.
    func hasAnswers(of provider: Int) -> Bool {
        (0..<lanes).contains { unsafe slot($0, provider)[0].load(ordering: .relaxed) > 0 }
    }

    // MARK: Health

    /// The slot of a provider's mode, after the numbers of the lanes and in cache lines of its own.
    private func modeSlot(_ provider: Int) -> UnsafeMutablePointer<Atomic<UInt64>> { unsafe slot(lanes, provider) }

    /// The restrictions that a lane must observe when it sends.
    func mode(_ provider: Int) -> ProviderHealth.Mode {
        unsafe .init(rawValue: UInt8(truncatingIfNeeded: modeSlot(provider)[0].load(ordering: .relaxed)))
    }

    func allowance(_ provider: Int, now: UInt64) -> Int {
        health.withLock { $0[provider].allowance(now: now) }
    }

    func didSend(_ requests: Int, _ provider: Int, now: UInt64, jitter: Double) {
        health.withLock { $0[provider].didSend(requests, now: now, jitter: jitter) }
    }

    /// Publishes what a lane has counted, and updates pace and outage from the sums over all lanes.
    func lookAtHealth(
        _ counts: borrowing AnswerCounts, inFlight: Int, lane: Int, provider: Int, now: UInt64, isStarting: Bool
    ) -> Outage.News? {
        let own = unsafe slot(lane, provider) + 1 + book.count
        unsafe own[0].store(counts.troubled, ordering: .relaxed)
        unsafe own[1].store(counts.troubledFirst, ordering: .relaxed)
        unsafe own[2].store(counts.silent, ordering: .relaxed)
        unsafe own[3].store(UInt64(inFlight), ordering: .relaxed)
        unsafe own[4].store(counts.ofConnection, ordering: .relaxed)
        unsafe own[5].store(counts.fresh, ordering: .relaxed)
        let (news, mode) = health.withLock { health in
            let news = health[provider].look(now: now, sums: sums(of: provider), isStarting: isStarting)
            return (news, health[provider].mode)
        }
        unsafe modeSlot(provider)[0].store(UInt64(mode.rawValue), ordering: .relaxed)
        return news
    }

    // MARK: What lanes share about their connections

    /// Publishes when a connection of this lane last served; 0 if none does now.
    func publishServing(at time: UInt64, lane: Int, provider: Int) {
        unsafe slot(lane, provider)[7 + book.count].store(time, ordering: .relaxed)
    }

    /// Whether a connection of another lane has served within the last `within` nanoseconds, and has not failed since.
    func othersServe(_ lane: Int, _ provider: Int, within: UInt64, now: UInt64) -> Bool {
        (0..<lanes).contains { other in
            let time = unsafe other == lane ? 0 : slot(other, provider)[7 + book.count].load(ordering: .relaxed)
            return time > 0 && now < time + within
        }
    }

    // MARK: Sums

    private func sums(of provider: Int) -> AnswerSums {
        var sums = AnswerSums()
        for lane in 0..<lanes {
            let own = unsafe slot(lane, provider)
            let further = unsafe own + 1 + book.count
            unsafe sums.troubled += further[0].load(ordering: .relaxed)
            unsafe sums.troubledFirst += further[1].load(ordering: .relaxed)
            unsafe sums.silent += further[2].load(ordering: .relaxed)
            unsafe sums.inFlight += further[3].load(ordering: .relaxed)
            unsafe sums.ofConnection += further[4].load(ordering: .relaxed)
            unsafe sums.fresh += further[5].load(ordering: .relaxed)
            unsafe sums.answered += own[0].load(ordering: .relaxed)
        }
        return sums
    }

    /// Returns a trip if a limit is reached. The outer optional is nil if another lane is asking at this moment.
    func judge(_ provider: Int) -> CircuitBreaker.Trip?? {
        breakers.withLockIfAvailable { $0[provider].note(totals(of: provider)) }
    }

    /// Refusals are read before answers, and written after them, so that no share is too large.
    private func totals(of provider: Int) -> CircuitBreaker.Totals {
        var totals = CircuitBreaker.Totals(answered: 0, refused: Array(repeating: 0, count: book.count))
        for lane in 0..<lanes {
            let own = unsafe slot(lane, provider)
            for rule in 0..<book.count { unsafe totals.refused[rule] += own[1 + rule].load(ordering: .acquiring) }
            unsafe totals.answered += own[0].load(ordering: .relaxed)
        }
        return totals
    }
}
