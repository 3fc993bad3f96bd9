/// Whether growing helped: the rate of answers before a doubling against the rate after it.
struct Growth: Equatable {
    enum Verdict: Equatable { case grow, stay }

    /// Rows waited and no stream was free, in the interval that runs.
    var starved = false
    private var since: UInt64
    private var answeredThen: UInt64 = 0
    private var rateBefore: Double?
    private var holdUntil: UInt64 = 0
    /// Growths in a row that were of no use.
    private var failures: UInt64 = 0

    init(start: UInt64) { since = start }

    /// Begins a new interval without a judgement.
    mutating func restart(now: UInt64, answered: UInt64) {
        since = now
        answeredThen = answered
        starved = false
    }

    /// At the end of an interval: grow while starved and the last growth was worth it.
    mutating func judge(now: UInt64, answered: UInt64, limits: ConnectionPool.Limits) -> Verdict {
        guard now - since >= limits.measureInterval else { return .stay }
        let rate = Double(answered - answeredThen) / (Double(now - since) / 1e9)
        let starvedThen = starved
        restart(now: now, answered: answered)
        guard starvedThen, answered > 0, now >= holdUntil else { return .stay }
        if let before = rateBefore, rate < before * limits.worthwhileGain {
            holdUntil = now + limits.holdAfterNoGain << min(failures, 10)
            failures += 1
            rateBefore = nil
            return .stay
        }
        if rateBefore != nil { failures = 0 }
        rateBefore = rate
        return .grow
    }
}
