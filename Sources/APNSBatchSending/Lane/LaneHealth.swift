import APNSBatchBasics
import APNSBatchModel
import APNSBatchNotification
import APNSBatchTransport

/// Counts one lane's answers by provider, publishes the counts to the shared counters, and stops the run when these show
/// that the campaign is wrong or that an outage lasts too long. Also determines how many requests may be sent for each provider.
struct LaneHealth: ~Copyable {
    struct Provider {
        var counts: AnswerCounts
        /// The provider's mode as of this turn.
        var mode: ProviderHealth.Mode = []
        /// When the last answer came, in nanoseconds; `answeredThen` is the number of answers at that time.
        var answeredAt: UInt64 = 0
        var answeredThen: UInt64 = 0
    }

    private let plan: CampaignPlan
    private let control: RunControl
    private let counters: SharedCounters
    /// The index of the lane in the shared counters.
    private let number: Int
    private var providers: Slab<Provider>
    /// When the health of the providers is evaluated next, in nanoseconds, if nothing happens before.
    private var nextLook: UInt64 = 0
    /// The number of answers of all providers at the last `tick`.
    private var answeredThen: UInt64 = 0
    private var random: SplitMix64

    private static let interval: UInt64 = 100_000_000

    init(plan: CampaignPlan, control: RunControl, counters: SharedCounters, number: Int, now: UInt64) {
        (self.plan, self.control, self.counters, self.number) = (plan, control, counters, number)
        random = SplitMix64(seed: plan.identity.0 ^ now ^ 1)
        providers = Slab(capacity: plan.topics.providers)
        for _ in 0..<plan.topics.providers { providers.append(Provider(counts: AnswerCounts(counters.book))) }
    }

    // MARK: What may be sent

    func mode(_ provider: Int) -> ProviderHealth.Mode { providers[provider].mode }

    /// Returns how many requests may be sent for a provider in this turn, and updates the provider's mode.
    mutating func allowance(_ provider: Int, now: UInt64) -> Int {
        let mode = counters.mode(provider)
        providers[provider].mode = mode
        return mode.isDisjoint(with: [.paced, .probing]) ? .max : counters.allowance(provider, now: now)
    }

    mutating func didSend(_ requests: Int, to provider: Int, now: UInt64) {
        guard requests > 0, !providers[provider].mode.isDisjoint(with: [.paced, .probing]) else { return }
        counters.didSend(requests, provider, now: now, jitter: random.unit())
    }

    /// Why only probes are sent for a provider, or nil if it has no outage.
    func probing(_ provider: Int) -> CampaignProgress.Waiting? {
        guard providers[provider].mode.contains(.probing) else { return nil }
        return .backingOff(cause: providers[provider].counts.lastTrouble?.text ?? "requests without an answer")
    }

    func hasAnswers(of provider: Int) -> Bool { counters.hasAnswers(of: provider) }
    func othersAnswer(now: UInt64) -> Bool { counters.hasAnswers(within: plan.poolLimits.patience, now: now) }

    // MARK: Answers

    func answered(_ provider: Int) -> UInt64 { providers[provider].counts.answered }
    mutating func noteAnswer(of provider: Int) { providers[provider].counts.answered += 1 }

    /// Counts an answer other than 200. A 429 or 5xx may be a sign of trouble at APNs. The attempt does not count if its
    /// connection is to blame, nor in the mode `excused`.
    ///
    /// - Parameter blame: What is to blame for a 429 or 5xx; nil for another answer.
    mutating func note(_ answer: Answer, to flight: inout Flight, _ blame: PoolHealth.Blame?) {
        let provider = Int(flight.provider)
        if blame != .connection { providers[provider].counts.note(answer) }
        switch blame {
        case nil: return
        case .connection:
            providers[provider].counts.noteTroubleOfConnection()
            flight.excused &+= 1
        case .provider(let isFresh):
            providers[provider].counts.noteTrouble(
                answer, isFirst: flight.countedAttempts <= 1, isFresh: isFresh)
            if providers[provider].mode.contains(.excused) { flight.excused &+= 1 }
        }
    }

    /// What a pool cannot see itself of its provider.
    func view(_ provider: Int, now: UInt64) -> PoolHealth.View {
        PoolHealth.View(
            othersServe: counters.othersServe(number, provider, within: Self.servingMemory, now: now),
            isDoubted: providers[provider].mode.contains(.doubted),
            isProbing: providers[provider].mode.contains(.probing))
    }

    /// Tells other lanes whether a connection serves. Called every few milliseconds.
    func publishServing(_ provider: Int, _ pool: borrowing ConnectionPool, now: UInt64) {
        counters.publishServing(at: pool.servedAt(now: now), lane: number, provider: provider)
    }

    /// The time for which an answer shows to other lanes that a connection serves.
    private static let servingMemory: UInt64 = 5_000_000_000

    /// Counts a request that was lost. The loss of a first attempt is a sign of trouble if no answer has come since the
    /// request was sent, or, where that time is not known, for `Outage.silence`.
    mutating func noteLoss(_ completion: CompletionRecord, of flight: inout Flight, now: UInt64) {
        let provider = Int(flight.provider)
        let sentBefore =
            unsafe completion.failureScope == .timeout ? UInt64(completion.code) * 1_000_000 : Outage.silence
        if flight.countedAttempts <= 1, now >= providers[provider].answeredAt + sentBefore {
            providers[provider].counts.noteSilence()
        }
        if providers[provider].mode.contains(.excused) { flight.excused &+= 1 }
    }

    /// Publishes the counts of a turn, asks for a verdict if there are new refusals, and evaluates the health of the
    /// providers.
    ///
    /// - Parameter sendsNothing: Whether nothing may be sent now, so that the periodic evaluation would learn nothing.
    mutating func publish(_ connections: borrowing LaneConnections, sendsNothing: Bool) {
        let now = connections.now
        for provider in providers.indices {
            counters.publish(providers[provider].counts, lane: number, provider: provider)
            if providers[provider].counts.hasNews { judge(provider, connections.access(provider)) }
            if providers[provider].counts.answered != providers[provider].answeredThen {
                providers[provider].answeredThen = providers[provider].counts.answered
                providers[provider].answeredAt = now
            }
        }
        let isDue = now >= nextLook && !sendsNothing
        if isDue { nextLook = now + Self.interval }
        for provider in providers.indices {
            guard isDue || providers[provider].counts.hasTrouble || providers[provider].mode.contains(.paced) else {
                continue
            }
            providers[provider].counts.hasTrouble = false
            let news = counters.lookAtHealth(
                providers[provider].counts, inFlight: connections.pools[provider].inFlight, lane: number,
                provider: provider, now: now, isStarting: connections.pools[provider].isStarting)
            if let news { act(on: news, of: provider, connections.access(provider)) }
        }
    }

    /// Tells lanes without answers of their own that other lanes have some. Called every few milliseconds.
    mutating func tick(now: UInt64) {
        let answered = providers.indices.reduce(0) { $0 + providers[$1].counts.answered }
        if answered != answeredThen { counters.noteAnswers(now: now) }
        answeredThen = answered
    }

    private mutating func judge(_ provider: Int, _ access: ProviderAccess) {
        guard let verdict = counters.judge(provider) else { return }
        providers[provider].counts.hasNews = false
        guard let trip = verdict else { return }
        let what = trip.text(example: providers[provider].counts.example)
        control.stop(.failure(CampaignError(.fatalAnswer, "\(plan.endpoint)\(access.forName): \(what)")))
    }

    private func act(on news: Outage.News, of provider: Int, _ access: ProviderAccess) {
        let last = providers[provider].counts.lastTrouble
        switch news {
        case .opened(let trouble): plan.log.outage(trouble, last: last, plan.outage, access)
        case .closed: plan.log.outageEnded(access)
        case .outlasted(let trouble, let patience):
            let text =
                "\(plan.endpoint)\(access.forName) \(trouble.text(last: last)) for \(patience / 1_000_000_000) seconds; "
                + "the remaining rows have no outcome, and resume sends them"
            control.stop(.failure(CampaignError(.unreachable, text)))
        }
    }
}

extension Outage.Trouble {
    /// Returns the text for messages, such as `answers 503 ServiceUnavailable to 97 % of requests`.
    func text(last: Answer?) -> String {
        switch self {
        case .refusals(let share):
            "answers \(last.map(\.text) ?? "429 or 5xx") to \(Int((share * 100).rounded(.down))) % of requests"
        case .silence: "does not answer"
        }
    }
}
