/// Sums of one provider's answers since the start of a run, over all lanes.
struct AnswerSums: Equatable {
    var answered: UInt64 = 0
    /// Answers that are neither 429 nor 5xx.
    var good: UInt64 = 0
    /// The others, and those of them to first attempts: a row that was refused before may be refused for ever, which says
    /// nothing of the rate.
    var troubled: UInt64 = 0
    var troubledFirst: UInt64 = 0
    /// First attempts that were lost after nothing had been answered for a while.
    var silent: UInt64 = 0
    /// Requests that wait for their answers.
    var underWay: UInt64 = 0
}

/// How much may be sent to APNs for one provider, over all lanes: the pace and the breaker.
struct ProviderHealth: Equatable {
    /// What a lane must know before it sends. Nothing of it while all is well.
    struct Mode: OptionSet, Equatable {
        var rawValue: UInt8
        /// Requests are spaced.
        static let paced = Mode(rawValue: 1)
        /// Attempts do not count.
        static let excused = Mode(rawValue: 2)
        /// Nothing but probes is sent.
        static let probing = Mode(rawValue: 4)
    }

    private(set) var pace = RatePace(start: 0)
    private(set) var outage: Outage
    private let patience: UInt64
    /// Somebody looked, and times are known.
    private var isBegun = false
    private var lastGood: UInt64 = 0

    /// - Parameter patience: how long an outage may last, in nanoseconds.
    init(patience: UInt64) {
        self.patience = patience
        outage = Outage(patience: patience, start: 0)
    }

    var mode: Mode {
        var mode: Mode = pace.rate == nil ? [] : .paced
        if outage.excusesAttempts { mode.insert(.excused) }
        if outage.phase == .open { mode.insert(.probing) }
        return mode
    }

    mutating func look(now: UInt64, sums: AnswerSums, isStarting: Bool) -> Outage.News? {
        begin(now: now)
        var sums = sums
        // Lanes tell their numbers one after the other.
        lastGood = max(lastGood, sums.answered - min(sums.answered, sums.troubled))
        sums.good = lastGood
        let was = outage.phase
        let news = outage.look(now: now, totals: sums)
        if was == .open, outage.phase != .open {
            pace.restart(now: now, totals: sums)
        } else if outage.phase != .open {
            pace.look(now: now, totals: sums, isStarting: isStarting)
        }
        return news
    }

    private mutating func begin(now: UInt64) {
        guard !isBegun else { return }
        isBegun = true
        pace = RatePace(start: now)
        outage = Outage(patience: patience, start: now)
    }

    /// How many requests may be sent now.
    mutating func allowance(now: UInt64) -> Int {
        if outage.phase == .open { return outage.isProbeDue(now: now) ? 1 : 0 }
        return max(0, pace.allowance(now: now))
    }

    mutating func didSend(_ requests: Int, now: UInt64, jitter: Double) {
        if outage.phase == .open { outage.didProbe(now: now, jitter: jitter) } else { pace.didSend(requests) }
    }
}
