import APNSBatchBasics
import APNSBatchNotification
import APNSBatchTransport
import Synchronization

/// What a lane has counted of one provider's answers since its start.
struct AnswerCounts {
    /// Which rules a reason belongs to; the same for all lanes.
    private let book: RuleIndex
    /// All answers, of any kind.
    var answered: UInt64 = 0
    /// By rule.
    private(set) var refused: [UInt64]
    /// Refusals that no rule has been asked about.
    var hasNews = false
    /// Answers of 429 and 5xx; of them, those to first attempts; and first attempts lost while nothing was answered.
    private(set) var troubled: UInt64 = 0
    private(set) var troubledFirst: UInt64 = 0
    private(set) var silent: UInt64 = 0
    /// Some of these that the board does not know of.
    var hasTrouble = false
    private(set) var lastTrouble: Answer?
    /// The last refusal that no device is the cause of.
    private(set) var example: Answer?

    init(_ book: RuleIndex) {
        self.book = book
        refused = Array(repeating: 0, count: book.count)
    }

    /// An answer that was not 200.
    mutating func note(_ answer: Answer) {
        if let every = book.every { count(every) }
        if case .known(let reason) = answer.reason, let rule = book.rule(of: reason) { count(rule) }
        if let noDevice = book.noDevice, answer.blamesNoDevice {
            count(noDevice)
            example = answer
        }
    }

    mutating func noteTrouble(_ answer: Answer, isFirst: Bool) {
        troubled += 1
        if isFirst { troubledFirst += 1 }
        lastTrouble = answer
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

/// Finds the rule of a reason.
struct RuleIndex: Sendable {
    let count: Int
    /// The rule about all answers but 200.
    let every: Int?
    /// The rule about refusals that no device is the cause of.
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
        // The same reason, printed in two ways.
        if found[other] < 0 { found[other] = found[one] }
        self.rules = found
    }

    func rule(of reason: KnownReason) -> Int? {
        let rule = rules[Int(reason.rawValue)]
        return rule < 0 ? nil : Int(rule)
    }
}

/// Where lanes publish what they counted, and where it is judged: one breaker for each provider over all lanes.
///
/// A lane writes its own numbers, a few relaxed stores in a turn with answers. Only a turn with refusals that a rule is about
/// asks for a verdict; when another lane is at it just then, it asks in its next turn.
package final class AnswerBoard: Sendable {
    let book: RuleIndex
    private let lanes: Int
    private let providers: Int
    /// By lane, then by provider: answered, and the rules' numbers. Behind the lanes' the modes, by provider.
    private let slots: Slots
    /// When some lane had its last answer, as far as it has told.
    private let answeredAt = Atomic<UInt64>(0)
    private let breakers: Guarded<[CircuitBreaker]>
    private let health: Guarded<[ProviderHealth]>

    /// Shared by all threads: every element is an atomic, and none is added later.
    private struct Slots: ~Copyable, @unchecked Sendable {
        var slab: Slab<Atomic<UInt64>>
    }

    /// - Parameter patience: how long an outage may last, in nanoseconds.
    package init(
        _ limits: CircuitBreaker.Limits, lanes: Int, providers: Int, patience: UInt64 = 3_600_000_000_000
    ) {
        book = RuleIndex(limits.rules)
        self.lanes = lanes
        self.providers = providers
        let count = (lanes + 1) * providers * Self.stride(book)
        var slab = Slab<Atomic<UInt64>>(capacity: count)
        for _ in 0..<count { slab.append(Atomic(0)) }
        slots = Slots(slab: slab)
        health = Guarded(Array(repeating: ProviderHealth(patience: patience), count: providers))
        breakers = Guarded(Array(repeating: CircuitBreaker(limits), count: providers))
    }

    /// Lanes do not share cache lines.
    private static func stride(_ book: RuleIndex) -> Int { (1 + book.count + healthNumbers + 15) & ~15 }

    /// What a lane tells beside answers and rules: 429 and 5xx, those to first attempts, lost requests, requests under way.
    private static let healthNumbers = 4

    private func slot(_ lane: Int, _ provider: Int) -> UnsafeMutablePointer<Atomic<UInt64>> {
        slots.slab.address(of: (lane * providers + provider) * Self.stride(book))
    }

    func publish(_ counts: borrowing AnswerCounts, lane: Int, provider: Int) {
        let own = slot(lane, provider)
        own[0].store(counts.answered, ordering: .relaxed)
        guard counts.hasNews else { return }
        for rule in counts.refused.indices { own[1 + rule].store(counts.refused[rule], ordering: .releasing) }
    }

    /// This lane has had answers since it last said so.
    func noteAnswers(now: UInt64) { answeredAt.store(now, ordering: .relaxed) }

    /// Whether some lane has had an answer of late.
    func hasAnswers(within: UInt64, now: UInt64) -> Bool { now < answeredAt.load(ordering: .relaxed) + within }

    /// Whether there has been an answer for a provider at all.
    func hasAnswers(of provider: Int) -> Bool {
        (0..<lanes).contains { slot($0, provider)[0].load(ordering: .relaxed) > 0 }
    }

    // MARK: Health

    /// Behind the lanes' numbers, each in cache lines of its own.
    private func modeSlot(_ provider: Int) -> UnsafeMutablePointer<Atomic<UInt64>> { slot(lanes, provider) }

    /// What a lane must know before it sends.
    func mode(_ provider: Int) -> ProviderHealth.Mode {
        .init(rawValue: UInt8(truncatingIfNeeded: modeSlot(provider)[0].load(ordering: .relaxed)))
    }

    func allowance(_ provider: Int, now: UInt64) -> Int {
        health.withLock { $0[provider].allowance(now: now) }
    }

    func didSend(_ requests: Int, _ provider: Int, now: UInt64, jitter: Double) {
        health.withLock { $0[provider].didSend(requests, now: now, jitter: jitter) }
    }

    /// Publishes what a lane has counted, and looks at the sum.
    func lookAtHealth(
        _ counts: borrowing AnswerCounts, underWay: Int, lane: Int, provider: Int, now: UInt64, isStarting: Bool
    ) -> Outage.News? {
        let own = slot(lane, provider) + 1 + book.count
        own[0].store(counts.troubled, ordering: .relaxed)
        own[1].store(counts.troubledFirst, ordering: .relaxed)
        own[2].store(counts.silent, ordering: .relaxed)
        own[3].store(UInt64(underWay), ordering: .relaxed)
        let (news, mode) = health.withLock { health in
            let news = health[provider].look(now: now, sums: sums(of: provider), isStarting: isStarting)
            return (news, health[provider].mode)
        }
        modeSlot(provider)[0].store(UInt64(mode.rawValue), ordering: .relaxed)
        return news
    }

    private func sums(of provider: Int) -> AnswerSums {
        var sums = AnswerSums()
        for lane in 0..<lanes {
            let own = slot(lane, provider)
            let further = own + 1 + book.count
            sums.troubled += further[0].load(ordering: .relaxed)
            sums.troubledFirst += further[1].load(ordering: .relaxed)
            sums.silent += further[2].load(ordering: .relaxed)
            sums.underWay += further[3].load(ordering: .relaxed)
            sums.answered += own[0].load(ordering: .relaxed)
        }
        return sums
    }

    /// Nil when another lane judges just now.
    func judge(_ provider: Int) -> CircuitBreaker.Trip?? {
        breakers.withLockIfAvailable { $0[provider].note(totals(of: provider)) }
    }

    /// Refusals are read before answers, and written after them: no share comes out too large.
    private func totals(of provider: Int) -> CircuitBreaker.Totals {
        var totals = CircuitBreaker.Totals(answered: 0, refused: Array(repeating: 0, count: book.count))
        for lane in 0..<lanes {
            let own = slot(lane, provider)
            for rule in 0..<book.count { totals.refused[rule] += own[1 + rule].load(ordering: .acquiring) }
            totals.answered += own[0].load(ordering: .relaxed)
        }
        return totals
    }
}
