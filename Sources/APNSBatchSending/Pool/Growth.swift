/// Decides about the number of connections, by the rate of answers before and after a doubling.
struct Growth: Equatable {
    enum Verdict: Equatable {
        case grow, stay
        /// The added connections did not help.
        case shrink
    }

    /// The wanted number of connections, which grows by doubling, and the number before the last doubling.
    private(set) var target: Int
    private var targetBefore: Int
    /// Whether rows waited because no stream was free, in the current interval.
    var starved = false
    private var since: UInt64
    private var answeredThen: UInt64 = 0
    private var rateBefore: Double?
    private var holdUntil: UInt64 = 0
    /// The number of consecutive doublings that did not help.
    private var failures: UInt64 = 0
    /// The number of intervals since the last doubling that showed no gain. A single one may be chance.
    private var doubts = 0

    init(target: Int, start: UInt64) { (self.target, targetBefore, since) = (target, target, start) }

    /// Whether the last doubling has not been judged yet.
    var isOnTrial: Bool { rateBefore != nil }

    /// Begins a new interval without a judgement.
    mutating func restart(now: UInt64, answered: UInt64) {
        since = now
        answeredThen = answered
        starved = false
    }

    /// Notes that the connections suffice to keep the sender busy: the last doubling helped, whatever the rate is later.
    mutating func didFill(now: UInt64, answered: UInt64) {
        (rateBefore, doubts, failures) = (nil, 0, 0)
        restart(now: now, answered: answered)
    }

    /// Decides at the end of an interval: grow while rows wait for streams and the last doubling helped.
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
