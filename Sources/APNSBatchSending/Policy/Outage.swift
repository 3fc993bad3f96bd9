/// Whether APNs is in trouble, and what is sent then: a circuit breaker that opens half.
///
/// It opens when three quarters of the answers and more are 429 or 5xx for three seconds, when half of them are for ten, or
/// when requests get no answer at all. By then it is no matter of rate, for the pace finds the rate of a server that has one
/// within seconds. Then nothing is sent but a probe now and then, at intervals that double up to a quarter of an hour, and
/// attempts do not count. When a probe is answered well, sending starts again from little; when that goes well for some
/// seconds, the breaker closes. An outage that outlasts the patience ends the run, and its rows stay open.
///
/// Rows that are refused whatever happens must not pass for an outage, also when nothing but such rows is left. So the
/// share counts each row's first answer only, and good ones in any case; and a few rows are an outage only where no other
/// was answered well.
///
/// Pure: sums of answers over all lanes of a provider and the time go in, news come out.
struct Outage: Equatable {
    enum Phase: Equatable {
        case closed
        /// It looks like an outage: attempts do not count.
        case suspected(since: UInt64)
        /// Nothing but probes is sent.
        case open
        /// Sending starts again; so many more seconds went well than badly.
        case recovering(good: Int)
    }

    /// What it looks like.
    enum Trouble: Equatable {
        /// The share of answers that are 429 or 5xx.
        case refusals(Double)
        case silence
    }

    enum News: Equatable {
        case opened(Trouble)
        case closed
        /// It lasted for longer than the patience, which is in nanoseconds.
        case outlasted(Trouble, UInt64)
    }

    private(set) var phase = Phase.closed
    private(set) var trouble = Trouble.silence
    private let patience: UInt64
    /// How long it has been open, as far as this process was there to see it.
    private var waited: UInt64 = 0
    private var isOver = false
    private var lookedAt: UInt64
    private var seen = AnswerSums()
    /// The last answers, good and first bad ones; older ones weigh less.
    private var weights = (good: 0.0, bad: 0.0)
    /// A second's answers.
    private var second: (since: UInt64, totals: AnswerSums)
    /// When the last answer came, and how many requests had been lost by then.
    private var answered: (at: UInt64, silent: UInt64)
    /// When the next probe may be sent, and how long after it the one behind it.
    private var probesAt: UInt64 = 0
    private var interval = Outage.intervalFirst

    static let intervalFirst: UInt64 = 2_000_000_000
    static let intervalMost: UInt64 = 900_000_000_000
    /// The share that is an outage when it lasts, the one that is one soon, and the one beneath which it is none.
    private static let share = 0.5
    private static let graveShare = 0.75
    private static let calmShare = 0.4
    /// Fewer first answers say nothing when others are good.
    private static let leastBad = 10.0
    /// From so many on attempts do not count at once.
    private static let manyBad = 40.0
    /// How many answers are remembered.
    private static let memory = 60.0
    private static let suspicion: UInt64 = 10_000_000_000
    private static let graveSuspicion: UInt64 = 3_000_000_000
    private static let oneSecond: UInt64 = 1_000_000_000
    /// Without any answer for so long, requests that are lost are a sign.
    static let silence: UInt64 = 10_000_000_000
    private static let silentLeast: UInt64 = 5
    private static let goodSeconds = 3

    init(patience: UInt64, start: UInt64) {
        self.patience = patience
        lookedAt = start
        second = (start, AnswerSums())
        answered = (start, 0)
    }

    static func == (one: Outage, other: Outage) -> Bool {
        one.phase == other.phase && one.waited == other.waited && one.seen == other.seen
            && one.weights == other.weights && one.probesAt == other.probesAt && one.interval == other.interval
    }

    /// Attempts do not count.
    var excusesAttempts: Bool {
        switch phase {
        case .closed: false
        // Of a few rows it may be the rows' fault.
        case .suspected(let since): weights.bad >= Self.manyBad || lookedAt >= since + Self.oneSecond
        case .open, .recovering: true
        }
    }

    /// Whether a probe may be sent now.
    func isProbeDue(now: UInt64) -> Bool { phase == .open && now >= probesAt }

    /// - Parameter jitter: 0 to 1.
    mutating func didProbe(now: UInt64, jitter: Double) {
        probesAt = now + UInt64(Double(interval) * (0.75 + jitter / 4))
        interval = min(Self.intervalMost, interval * 2)
    }

    /// Seconds until the next probe.
    func nextProbe(now: UInt64) -> UInt64 { (probesAt - min(now, probesAt)) / Self.oneSecond }

    /// Several times a second while there is something to send.
    mutating func look(now: UInt64, totals: AnswerSums) -> News? {
        defer { (lookedAt, seen) = (now, totals) }
        note(now: now, totals)
        leaveOutPause(until: now)
        if isOpen {
            // A look after a long pause says that this process stood still.
            waited += min(now - lookedAt, Self.oneSecond)
            if waited >= patience, !isOver {
                isOver = true
                return .outlasted(trouble, patience)
            }
        }
        switch phase {
        case .closed: return lookClosed(now: now, totals)
        case .suspected(let since): return lookSuspected(since, now: now, totals)
        case .open: return lookOpen(now: now, totals)
        case .recovering(let good): return lookRecovering(good, now: now, totals)
        }
    }

    /// Time in which nobody looked, because this process stood still or had nothing to send, shows no trouble that lasts.
    private mutating func leaveOutPause(until now: UInt64) {
        guard case .suspected(let since) = phase, now > lookedAt + Self.oneSecond else { return }
        phase = .suspected(since: since + (now - lookedAt - Self.oneSecond))
    }

    private var isOpen: Bool {
        switch phase {
        case .closed, .suspected: false
        case .open, .recovering: true
        }
    }

    private mutating func note(now: UInt64, _ totals: AnswerSums) {
        if totals.good != seen.good || totals.troubled != seen.troubled { answered = (now, totals.silent) }
        weights.good += Double(totals.good - seen.good)
        weights.bad += Double(totals.troubledFirst - seen.troubledFirst)
        let sum = weights.good + weights.bad
        guard sum > Self.memory else { return }
        weights = (weights.good * Self.memory / sum, weights.bad * Self.memory / sum)
    }

    // MARK: Phases

    private mutating func lookClosed(now: UInt64, _ totals: AnswerSums) -> News? {
        if let news = lookForSilence(now: now, totals) { return news }
        if isSuspicious, let share = shareOfSecond(totals), share >= Self.share {
            phase = .suspected(since: now)
            beginSecond(now: now, totals)
        } else if isSecondOver(now) {
            beginSecond(now: now, totals)
        }
        return nil
    }

    private var isSuspicious: Bool {
        if weights.bad < Self.leastBad { return weights.bad > 0 && weights.good == 0 }
        return weights.bad >= Self.share * (weights.good + weights.bad)
    }

    private mutating func lookSuspected(_ since: UInt64, now: UInt64, _ totals: AnswerSums) -> News? {
        if let news = lookForSilence(now: now, totals) { return news }
        guard isSecondOver(now) else { return nil }
        let share = shareOfSecond(totals)
        beginSecond(now: now, totals)
        guard let share else { return nil }
        if share < Self.calmShare { phase = .closed }
        guard share >= Self.share else { return nil }
        let isLasting = now >= since + (share >= Self.graveShare ? Self.graveSuspicion : Self.suspicion)
        return isLasting ? open(.refusals(share), now: now, totals) : nil
    }

    private mutating func lookOpen(now: UInt64, _ totals: AnswerSums) -> News? {
        guard totals.good > seen.good else { return nil }
        phase = .recovering(good: 0)
        beginSecond(now: now, totals)
        return nil
    }

    private mutating func lookRecovering(_ good: Int, now: UInt64, _ totals: AnswerSums) -> News? {
        let isSilent = isSilent(now: now, totals)
        guard isSecondOver(now) || isSilent else { return nil }
        let share = shareOfSecond(totals)
        beginSecond(now: now, totals)
        if isSilent || share ?? 0 >= Self.graveShare || good <= -Self.goodSeconds {
            phase = .open
            probesAt = now + interval / 2
            answered.at = now
        } else if let share {
            // Half may be refused while the pace finds out how much is taken.
            let good = good + (share < Self.share ? 1 : -1)
            phase = .recovering(good: good)
            if good >= Self.goodSeconds { return close() }
        }
        return nil
    }

    private mutating func open(_ trouble: Trouble, now: UInt64, _ totals: AnswerSums) -> News {
        (phase, self.trouble) = (.open, trouble)
        (waited, interval) = (0, Self.intervalFirst)
        probesAt = now + interval
        interval *= 2
        return .opened(trouble)
    }

    private mutating func close() -> News {
        // It has just been well: a few rows that it refuses for ever are none.
        (phase, waited, weights) = (.closed, 0, (Self.leastBad, 0))
        return .closed
    }

    private mutating func lookForSilence(now: UInt64, _ totals: AnswerSums) -> News? {
        isSilent(now: now, totals) ? open(.silence, now: now, totals) : nil
    }

    /// Requests are lost and no answer comes, and there had been answers.
    private func isSilent(now: UInt64, _ totals: AnswerSums) -> Bool {
        totals.good + totals.troubled > 0 && now >= answered.at + Self.silence
            && totals.silent - answered.silent >= Self.silentLeast
    }

    // MARK: The second

    private func isSecondOver(_ now: UInt64) -> Bool { now >= second.since + Self.oneSecond }

    private mutating func beginSecond(now: UInt64, _ totals: AnswerSums) { second = (now, totals) }

    /// Of its answers, those that are 429 or 5xx; nil without any.
    private func shareOfSecond(_ totals: AnswerSums) -> Double? {
        let bad = totals.troubled - second.totals.troubled
        let all = bad + totals.good - second.totals.good
        return all > 0 ? Double(bad) / Double(all) : nil
    }
}
