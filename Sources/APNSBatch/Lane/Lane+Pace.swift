import APNSBatchNotification
import LaneTransport

/// How much a lane sends while the server pushes back or is in trouble, and at the beginning of a run.
extension Lane {
    private static var healthInterval: UInt64 { 100_000_000 }

    /// Before rows are taken: how many requests each provider may be sent in this turn.
    mutating func grant() {
        isPaced = false
        for provider in providers.indices {
            let answered = providers[provider].counts.answered
            let mode = board.mode(provider)
            providers[provider].mode = mode
            if mode.contains(.paced), !mode.contains(.probing) { isPaced = true }
            let isLimited = !mode.isDisjoint(with: [.paced, .probing])
            let requests = isLimited ? board.allowance(provider, now: now) : .max
            providers[provider].pool.allow(requests, answered: answered)
        }
    }

    /// After rows were taken.
    mutating func settleGrants() {
        for provider in providers.indices where !providers[provider].mode.isDisjoint(with: [.paced, .probing]) {
            let sent = providers[provider].pool.sentOfAllowance
            if sent > 0 { board.didSend(sent, provider, now: now, jitter: random.unit()) }
        }
    }

    /// Why a provider is sent nothing but probes; nil while it is sent more.
    func probing(_ provider: Int) -> CampaignProgress.Waiting? {
        guard providers[provider].mode.contains(.probing) else { return nil }
        return .backingOff(cause: providers[provider].counts.lastTrouble?.text ?? "requests without an answer")
    }

    /// The only provider is sent probes: rows that are due again, and fresh ones only while there is none.
    var isProbing: Bool { providers.count == 1 && providers[0].mode.contains(.probing) }

    /// Sends one if its time has come; true when the room is used up.
    mutating func fillProbe(_ room: Int) -> Bool {
        guard room > 0, let member = stream(of: 0), let flight = takeDue() ?? nextFlight() else {
            return false
        }
        send(flight, to: member, of: 0)
        return false
    }

    /// After a turn's answers: what they say of APNs.
    mutating func lookAtHealth() {
        let isDue = now >= nextHealth && !sendsNothing
        if isDue { nextHealth = now + Self.healthInterval }
        for provider in providers.indices {
            let hasTrouble = providers[provider].counts.hasTrouble
            let isPaced = providers[provider].mode.contains(.paced)
            guard hasTrouble || isPaced || isDue else { continue }
            providers[provider].counts.hasTrouble = false
            let isStarting = providers[provider].pool.isStarting
            let news = board.lookAtHealth(
                providers[provider].counts, underWay: providers[provider].pool.inFlight, lane: number,
                provider: provider, now: now, isStarting: isStarting)
            if let news { act(on: news, of: provider) }
        }
    }

    private func act(on news: Outage.News, of provider: Int) {
        let access = providers[provider].access
        switch news {
        case .opened(let trouble):
            plan.log.outage(trouble, last: providers[provider].counts.lastTrouble, plan.unavailablePatience, access)
        case .closed: plan.log.outageEnded(access)
        case .outlasted(let trouble, let patience):
            let what = trouble.text(last: providers[provider].counts.lastTrouble)
            let text =
                "\(plan.endpoint)\(access.forName) \(what) for \(patience / 1_000_000_000) seconds; rows that are left "
            control.stop(.failure(CampaignError(.unreachable, text + "stay open, and resume sends them")))
        }
    }

    /// Attempts of the row that count.
    func countedAttempts(_ flight: Int) -> Int { Int(flights[flight].attempts) - Int(flights[flight].excused) }

    /// An answer of 429 or 5xx; while APNs is in trouble the attempt does not count.
    mutating func noteTrouble(_ flight: Int, _ answer: Answer) {
        guard Self.isUnavailability(answer.status), answer.saysTrouble else { return }
        let provider = Int(flights[flight].provider)
        providers[provider].counts.noteTrouble(answer, isFirst: countedAttempts(flight) <= 1)
        excuse(flight, provider)
    }

    /// A request was lost: a sign of trouble when nothing sent since the last answer was answered.
    mutating func noteLost(_ flight: Int, _ outcome: OutcomeRecord) {
        let provider = Int(flights[flight].provider)
        let sentBefore = outcome.failureScope == .timeout ? UInt64(outcome.code) * 1_000_000 : Outage.silence
        if countedAttempts(flight) <= 1, now >= providers[provider].answeredAt + sentBefore {
            providers[provider].counts.noteSilence()
        }
        excuse(flight, provider)
    }

    private mutating func excuse(_ flight: Int, _ provider: Int) {
        if providers[provider].mode.contains(.excused) { flights[flight].excused &+= 1 }
    }
}

extension Answer {
    /// Whether 429 or 5xx says that the server takes less than it is sent: not where a server leaves, or minds its token.
    fileprivate var saysTrouble: Bool {
        reason != .known(.shutdown) && reason != .known(.tooManyProviderTokenUpdates)
    }
}

extension Outage.Trouble {
    /// `answers 503 ServiceUnavailable to 97 % of requests`.
    func text(last: Answer?) -> String {
        switch self {
        case .refusals(let share):
            "answers \(last.map(\.text) ?? "429 or 5xx") to \(Int((share * 100).rounded(.down))) % of requests"
        case .silence: "does not answer"
        }
    }
}
