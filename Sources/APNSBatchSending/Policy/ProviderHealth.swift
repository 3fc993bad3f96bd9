/// The sums of one provider's answers since the start of a run, over all lanes.
struct AnswerSums: Equatable {
    var answered: UInt64 = 0
    /// The number of answers that are neither 429 nor 5xx.
    var good: UInt64 = 0
    /// The number of answers that are 429 or 5xx, and of those to first attempts. A row that was refused before may be
    /// refused forever, which does not depend on the rate.
    var troubled: UInt64 = 0
    var troubledFirst: UInt64 = 0
    /// The number of answers of 429 or 5xx for which a connection is to blame, and not the provider, so that they are not
    /// among the troubled ones; and of those among these that a fresh connection got.
    var ofConnection: UInt64 = 0
    var fresh: UInt64 = 0
    /// The number of first attempts that were lost while no answer had come for some time.
    var silent: UInt64 = 0
    /// The number of requests in flight.
    var inFlight: UInt64 = 0
}

/// Decides how much may be sent to APNs for one provider, over all lanes, by the pace and the state of an outage.
struct ProviderHealth: Equatable {
    /// The restrictions that a lane must observe when it sends; empty while there are none.
    struct Mode: OptionSet, Equatable {
        var rawValue: UInt8
        /// Requests are limited by a rate.
        static let paced = Mode(rawValue: 1)
        /// Attempts do not count.
        static let excused = Mode(rawValue: 2)
        /// Only probes are sent.
        static let probing = Mode(rawValue: 4)
        /// An outage is suspected: a fresh connection shows whether the old ones are the cause.
        static let doubted = Mode(rawValue: 8)
    }

    private(set) var pace = RatePace(start: 0)
    private(set) var outage: Outage
    private let limits: Outage.Limits
    /// Whether `look` was called, so that the times are set.
    private var isBegun = false
    private var lastGood: UInt64 = 0
    /// The latest time of any lane.
    private var latest: UInt64 = 0

    init(_ limits: Outage.Limits) {
        self.limits = limits
        outage = Outage(limits, start: 0)
    }

    var mode: Mode {
        var mode: Mode = pace.rate == nil ? [] : .paced
        if outage.excusesAttempts { mode.insert(.excused) }
        if outage.phase == .open { mode.insert(.probing) }
        if outage.isDoubted { mode.insert(.doubted) }
        return mode
    }

    mutating func look(now: UInt64, sums: AnswerSums, isStarting: Bool) -> Outage.News? {
        let now = advance(to: now)
        begin(now: now)
        var sums = sums
        // Lanes publish their numbers one after the other, so the sums can be inconsistent for a moment.
        lastGood = max(lastGood, sums.answered - min(sums.answered, sums.troubled + sums.ofConnection))
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

    /// Returns a time that is never before one that was given earlier: each lane reads the clock once in a turn, so that one lane may
    /// give a time which is before that of another.
    private mutating func advance(to now: UInt64) -> UInt64 {
        latest = max(latest, now)
        return latest
    }

    private mutating func begin(now: UInt64) {
        guard !isBegun else { return }
        isBegun = true
        pace = RatePace(start: now)
        outage = Outage(limits, start: now)
    }

    /// Returns the number of requests that may be sent now.
    mutating func allowance(now: UInt64) -> Int {
        let now = advance(to: now)
        if outage.phase == .open { return outage.isProbeDue(now: now) ? 1 : 0 }
        return max(0, pace.allowance(now: now))
    }

    mutating func didSend(_ requests: Int, now: UInt64, jitter: Double) {
        let now = advance(to: now)
        if outage.phase == .open { outage.didProbe(now: now, jitter: jitter) } else { pace.didSend(requests) }
    }
}
