/// The limit of requests in flight, by additive increase and multiplicative decrease.
///
/// There is no limit besides the streams until answers take longer and longer while their rate falls. Then three quarters of
/// the streams in use remain allowed, and a little more after each interval in which all of these were in use. ``RatePace``
/// handles servers that refuse requests.
struct StreamPace: Equatable {
    /// The number of requests that may be in flight; `Int.max` while there is no limit.
    private(set) var allowed = Int.max
    /// Whether a request had to wait because of this limit in the current interval.
    var isLimiting = false

    /// The answers since the start.
    private(set) var sum = AnswerSum()

    /// The requests in flight before the limit fell, and the latency then, until the effect is known.
    private struct Trial: Equatable {
        let reach: Int
        let latency: Double
    }

    private var trial: Trial?
    private var since: UInt64
    private var sumThen = AnswerSum()
    /// The maximum number of requests in flight in the interval.
    private var peak = 0
    /// The recent maximum of requests in flight, or the one since there is a limit; the limit is a share of it. The
    /// number of allowed streams is not suitable: a server may allow any number, and connections that are being replaced
    /// have few.
    private var reach = 0
    /// The lowest mean latency of an interval, in microseconds; it rises slowly.
    private var baseLatency = Double.infinity
    /// The highest rate of an interval, in answers per second; it falls slowly.
    private var bestRate = 0.0
    /// The number of consecutive intervals whose answers came late and few.
    private var lateIntervals = 0

    /// The mean latency of the last interval, in microseconds.
    private var latency = 0.0

    /// The least length of an interval, in nanoseconds. It is as long as an answer takes, because the answers of a shorter
    /// one do not show what the last change was good for.
    private static let interval: UInt64 = 100_000_000
    /// The number of answers that an interval needs, unless it lasts a second.
    private static let answersLeast: UInt64 = 20
    private static let latencyFactor = 4.0
    /// The least rise in microseconds. With thousands of streams the sender itself causes some latency.
    private static let latencyRise = 100_000.0
    private static let rateLoss = 0.7

    init(start: UInt64) { since = start }

    /// Notes an answer.
    ///
    /// - Parameters:
    ///   - latency: In microseconds.
    ///   - inFlight: The number of requests in flight, including this one.
    mutating func note(latency: UInt32, inFlight: Int) {
        sum.note(latency: latency)
        if inFlight > peak { peak = inFlight }
    }

    /// Adjusts the limit at the end of an interval.
    ///
    /// - Parameter streams: The number of streams that the servers allow, over all connections.
    mutating func adjust(now: UInt64, streams: Int) -> Double? {
        let length = now - since
        let answers = sum - sumThen
        guard length >= max(Self.interval, UInt64(latency * 1000)),
            answers.count >= Self.answersLeast || length >= 10 * Self.interval
        else { return nil }
        defer { restart(now: now) }
        guard let latency = answers.mean, streams > 0 else { return nil }
        self.latency = latency
        let intervals = Double(length) / Double(Self.interval)
        reach = max(peak, allowed == .max ? reach - reach / 8 : reach)
        guard noteLateness(rate: Double(answers.count) / Double(length) * 1e9, intervals: intervals) else {
            trial = nil
            rise(streams: streams, intervals: intervals)
            return nil
        }
        if isInVain {
            (allowed, trial, baseLatency, bestRate) = (.max, nil, latency, 0)
            return latency
        }
        if trial == nil, allowed == .max { trial = Trial(reach: reach, latency: latency) }
        allowed = max(1, reach / 8, min(allowed, reach) / 4 * 3)
        return nil
    }

    /// Whether fewer requests in flight did not make the answers come sooner. Known when half of them were taken away.
    private var isInVain: Bool {
        guard let trial, peak * 8 <= trial.reach * 5 else { return false }
        return latency > (1 + Double(peak) / Double(trial.reach)) / 2 * trial.latency
    }

    /// Notes that there will be fewer streams, and so fewer answers.
    mutating func expectFewer() { bestRate = 0 }

    private mutating func rise(streams: Int, intervals: Double) {
        guard allowed != .max, isLimiting else { return }
        allowed += max(1, Int(Double(reach / 32) * min(intervals, 8)))
        if allowed >= max(streams, reach) { allowed = .max }
    }

    private mutating func noteLateness(rate: Double, intervals: Double) -> Bool {
        let isLate =
            latency > max(Self.latencyFactor * baseLatency, baseLatency + Self.latencyRise)
            && rate < Self.rateLoss * bestRate
        baseLatency = min(latency, baseLatency * (1 + 0.02 * intervals))
        bestRate = max(rate, bestRate / (1 + 0.02 * intervals))
        lateIntervals = isLate ? lateIntervals + 1 : 0
        return lateIntervals > 1
    }

    private mutating func restart(now: UInt64) {
        since = now
        (sumThen, peak) = (sum, 0)
        isLimiting = false
    }
}

/// The limit of requests in flight at the start of a run: as many as were answered, so that the number doubles with each
/// round trip, until it is clear that the server accepts them. Otherwise a server that accepts few per second would refuse
/// hundreds before its first answer is read.
struct FirstRequests: Equatable {
    private(set) var allowed = FirstRequests.first
    private(set) var isOn = true

    private static let first = 32
    private static let most = 1024

    /// - Parameter answered: The number of answers since the start.
    mutating func note(answered: UInt64) {
        allowed = max(Self.first, Int(min(answered, UInt64(Self.most))))
        if allowed >= Self.most { isOn = false }
    }
}
