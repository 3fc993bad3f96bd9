/// Whether growing helped: the rate of answers before a doubling against the rate after it.
struct Growth: Equatable {
    enum Verdict: Equatable {
        case grow, stay
        /// What was added is of no use.
        case shrink
    }

    /// How many connections are wanted; grows by doubling. And what that was before it last grew.
    private(set) var target: Int
    private var targetBefore: Int
    /// Rows waited and no stream was free, in the interval that runs.
    var starved = false
    private var since: UInt64
    private var answeredThen: UInt64 = 0
    private var rateBefore: Double?
    private var holdUntil: UInt64 = 0
    /// Growths in a row that were of no use.
    private var failures: UInt64 = 0
    /// Intervals since the last growth that did not show a gain: one may be an accident.
    private var doubts = 0

    init(target: Int, start: UInt64) { (self.target, targetBefore, since) = (target, target, start) }

    /// A doubling has not been judged yet.
    var isOnTrial: Bool { rateBefore != nil }

    /// Begins a new interval without a judgement.
    mutating func restart(now: UInt64, answered: UInt64) {
        since = now
        answeredThen = answered
        starved = false
    }

    /// There is enough for the sender to be busy: the last growth was worth it, whatever the rate is later.
    mutating func didFill(now: UInt64, answered: UInt64) {
        (rateBefore, doubts, failures) = (nil, 0, 0)
        restart(now: now, answered: answered)
    }

    /// At the end of an interval: grow while starved and the last growth was worth it.
    mutating func judge(now: UInt64, answered: UInt64, _ limits: ConnectionPool.Limits) -> Verdict {
        let verdict = verdict(now: now, answered: answered, limits)
        switch verdict {
        case .grow: (targetBefore, target) = (target, min(limits.maximum, target * 2))
        case .shrink: target = min(target, targetBefore)
        case .stay: break
        }
        return verdict
    }

    private mutating func verdict(now: UInt64, answered: UInt64, _ limits: ConnectionPool.Limits) -> Verdict {
        guard now - since >= limits.measureInterval else { return .stay }
        let rate = Double(answered - answeredThen) / (Double(now - since) / 1e9)
        let starvedThen = starved
        restart(now: now, answered: answered)
        guard starvedThen, answered > 0, now >= holdUntil else { return .stay }
        guard let before = rateBefore, rate < before * limits.worthwhileGain else {
            if rateBefore != nil { failures = 0 }
            (rateBefore, doubts) = (rate, 0)
            return .grow
        }
        doubts += 1
        guard doubts > 1 else { return .stay }
        holdUntil = now + limits.holdAfterNoGain << min(failures, 10)
        failures += 1
        (rateBefore, doubts) = (nil, 0)
        return rate < before * limits.leastGain ? .shrink : .stay
    }
}
