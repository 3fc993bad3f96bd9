import APNSProtocol
import LaneTransport
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
final class AnswerBoard: Sendable {
    let book: RuleIndex
    private let lanes: Int
    private let providers: Int
    /// By lane, then by provider: answered, and the rules' numbers.
    private let numbers: Numbers
    /// When some lane had its last answer, as far as it has told.
    private let answeredAt = Atomic<UInt64>(0)
    private let breakers: Guarded<[CircuitBreaker]>

    private struct Numbers: @unchecked Sendable {
        let slots: UnsafeMutablePointer<Atomic<UInt64>>
    }

    init(_ limits: CircuitBreaker.Limits, lanes: Int, providers: Int) {
        book = RuleIndex(limits.rules)
        self.lanes = lanes
        self.providers = providers
        let count = lanes * providers * Self.stride(book)
        numbers = Numbers(slots: .allocate(capacity: count))
        for slot in 0..<count { (numbers.slots + slot).initialize(to: Atomic(0)) }
        breakers = Guarded(Array(repeating: CircuitBreaker(limits), count: providers))
    }

    deinit {
        numbers.slots.deinitialize(count: lanes * providers * Self.stride(book))
        numbers.slots.deallocate()
    }

    /// Lanes do not share cache lines.
    private static func stride(_ book: RuleIndex) -> Int { (1 + book.count + 15) & ~15 }

    private func slot(_ lane: Int, _ provider: Int) -> UnsafeMutablePointer<Atomic<UInt64>> {
        numbers.slots + (lane * providers + provider) * Self.stride(book)
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
