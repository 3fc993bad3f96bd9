/// Detects that APNs is in trouble, and decides what is sent then: a circuit breaker with a half-open state.
///
/// It opens when three quarters of the answers or more are 429 or 5xx for three seconds, when half of them are for ten
/// seconds, or when requests get no answer at all. The rate cannot be the cause then, since the pace finds the rate of a
/// server within seconds. While it is open, only single probes are sent, at intervals that double up to a limit, and attempts
/// do not count. It opens by answers only if a fresh connection got bad ones, too: a single connection may be the cause (see
/// ``PoolHealth``, which leaves the answers of such a connection out of the sums). When a probe gets an answer that is neither 429 nor 5xx, sending starts again at a low rate; when that goes
/// well for some seconds, the breaker closes. An outage that lasts longer than the patience ends the run, and its rows stay
/// without an outcome.
///
/// Rows that are always refused must not be taken for an outage, even if only such rows are left. So the share counts only
/// the first bad answer of each row, but every good answer; and a few rows are an outage only if no other row had a good
/// answer.
///
/// A pure value: its input is the time and sums of answers over all lanes of a provider, its output is news.
struct Outage: Equatable {
    enum Phase: Equatable {
        case closed
        /// An outage is suspected: attempts do not count.
        case suspected(since: UInt64)
        /// Only probes are sent.
        case open
        /// Sending has started again. `good` is the number of good seconds less that of bad ones.
        case recovering(good: Int)
    }

    /// The symptom of an outage.
    enum Trouble: Equatable {
        /// The share of answers that are 429 or 5xx.
        case refusals(Double)
        case silence
    }

    enum News: Equatable {
        case opened(Trouble)
        case closed
        /// The outage lasted longer than the patience, in nanoseconds.
        case outlasted(Trouble, UInt64)
    }

    /// What differs between a campaign, which has time, and a sender, whose callers wait; in nanoseconds.
    struct Limits: Equatable {
        /// The longest duration of an outage.
        let patience: UInt64
        /// The longest interval between probes. For a campaign that which Apple recommends ("Handling notification responses from
        /// APNs"); for a sender about as long as a caller waits, so that it finds out as soon that APNs answers again.
        let interval: UInt64

        static func campaign(patience: UInt64) -> Limits { Limits(patience: patience, interval: 900_000_000_000) }
        static func sender(patience: UInt64) -> Limits { Limits(patience: patience, interval: 30_000_000_000) }
    }

    private(set) var phase = Phase.closed
    private(set) var trouble = Trouble.silence
    private let limits: Limits
    /// How long the breaker has been open, without the time in which this process did not run.
    private var waited: UInt64 = 0
    private var isOver = false
    private var lookedAt: UInt64
    private var seen = AnswerSums()
    /// The weights of the latest good answers and first bad answers; older ones count less.
    private var weights = (good: 0.0, bad: 0.0)
    /// The second in progress: its start, and the sums at its start.
    private var second: (since: UInt64, totals: AnswerSums)
    /// The time of the last answer, and the number of lost requests at that time.
    private var answered: (at: UInt64, silent: UInt64)
    /// When a fresh connection last got a bad answer.
    private var freshAt: UInt64?
    /// The time of the next probe, and the interval after it, in nanoseconds.
    private var probesAt: UInt64 = 0
    private var interval = Outage.intervalFirst

    static let intervalFirst: UInt64 = 2_000_000_000
    /// The shares of bad answers from which on there is an outage if it lasts, from which on it takes less time, and below
    /// which there is none.
    private static let share = 0.5
    private static let graveShare = 0.75
    private static let calmShare = 0.4
    /// The number of first bad answers below which there is no outage if others are good.
    private static let leastBad = 10.0
    /// The number of first bad answers from which on attempts do not count at once.
    private static let manyBad = 40.0
    /// The number of answers that the weights cover.
    private static let memory = 60.0
    private static let suspicion: UInt64 = 10_000_000_000
    private static let graveSuspicion: UInt64 = 3_000_000_000
    private static let oneSecond: UInt64 = 1_000_000_000
    /// The time without any answer, in nanoseconds, after which lost requests are a symptom.
    static let silence: UInt64 = 10_000_000_000
    private static let silentLeast: UInt64 = 5
    private static let goodSeconds = 3

    init(_ limits: Limits, start: UInt64) {
        self.limits = limits
        lookedAt = start
        second = (start, AnswerSums())
        answered = (start, 0)
    }

    static func == (one: Outage, other: Outage) -> Bool {
        one.phase == other.phase && one.waited == other.waited && one.seen == other.seen
            && one.weights == other.weights && one.freshAt == other.freshAt && one.probesAt == other.probesAt
            && one.interval == other.interval
    }

    /// Whether attempts do not count.
    var excusesAttempts: Bool {
        switch phase {
        case .closed: false
        // With few rows the rows themselves may be the cause.
        case .suspected(let since): weights.bad >= Self.manyBad || lookedAt >= since + Self.oneSecond
        case .open, .recovering: true
        }
    }

    /// Whether an outage has been suspected long enough, or after enough bad answers, to try a fresh connection.
    var isDoubted: Bool { if case .suspected = phase { excusesAttempts } else { false } }

    /// Whether a probe may be sent now.
    func isProbeDue(now: UInt64) -> Bool { phase == .open && now >= probesAt }

    /// Notes that a probe was sent.
    ///
    /// - Parameter jitter: A random number from 0 to 1.
    mutating func didProbe(now: UInt64, jitter: Double) {
        probesAt = now + UInt64(Double(interval) * (0.75 + jitter / 4))
        interval = min(limits.interval, interval * 2)
    }

    /// Returns the whole seconds until the next probe.
    func nextProbe(now: UInt64) -> UInt64 { (probesAt - min(now, probesAt)) / Self.oneSecond }

    /// Updates the state. Called several times a second while there is something to send.
    mutating func look(now: UInt64, totals: AnswerSums) -> News? {
        defer { (lookedAt, seen) = (now, totals) }
        note(now: now, totals)
        leaveOutPause(until: now)
        if isOpen {
            // A long time since the last call means that this process did not run.
            waited += min(now - lookedAt, Self.oneSecond)
            if waited >= limits.patience, !isOver {
                isOver = true
                return .outlasted(trouble, limits.patience)
            }
        }
        switch phase {
        case .closed: return lookClosed(now: now, totals)
        case .suspected(let since): return lookSuspected(since, now: now, totals)
        case .open: return lookOpen(now: now, totals)
        case .recovering(let good): return lookRecovering(good, now: now, totals)
        }
    }

    /// Moves the start of a suspicion by the time in which this was not called, because the process did not run or had
    /// nothing to send.
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
        if totals.fresh > seen.fresh { freshAt = now }
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
        return isLasting && isConfirmed(since) ? open(.refusals(share), now: now, totals) : nil
    }

    /// Whether a fresh connection got a bad answer since the suspicion, or shortly before.
    private func isConfirmed(_ since: UInt64) -> Bool { freshAt.map { $0 + Self.suspicion >= since } ?? false }

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
            // Up to half may be refused while the pace determines how much is accepted.
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
        // APNs has just answered well, so a few rows that it always refuses are no outage.
        (phase, waited, weights) = (.closed, 0, (Self.leastBad, 0))
        return .closed
    }

    private mutating func lookForSilence(now: UInt64, _ totals: AnswerSums) -> News? {
        isSilent(now: now, totals) ? open(.silence, now: now, totals) : nil
    }

    /// Whether requests are lost and no answer comes, although there had been answers before.
    private func isSilent(now: UInt64, _ totals: AnswerSums) -> Bool {
        totals.good + totals.troubled > 0 && now >= answered.at + Self.silence
            && totals.silent - answered.silent >= Self.silentLeast
    }

    // MARK: The second

    private func isSecondOver(_ now: UInt64) -> Bool { now >= second.since + Self.oneSecond }

    private mutating func beginSecond(now: UInt64, _ totals: AnswerSums) { second = (now, totals) }

    /// The share of answers of the current second that are 429 or 5xx; nil if there are none.
    private func shareOfSecond(_ totals: AnswerSums) -> Double? {
        let bad = totals.troubled - second.totals.troubled
        let all = bad + totals.good - second.totals.good
        return all > 0 ? Double(bad) / Double(all) : nil
    }
}
