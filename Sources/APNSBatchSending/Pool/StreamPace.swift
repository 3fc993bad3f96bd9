/// How many requests may be under way at once: additive increase, multiplicative decrease.
///
/// There is no limit but the streams themselves until answers come later and later while there are fewer of them. Then three
/// quarters of what was in use may be used, and a little more each interval in which all of it was in use. What a server
/// that refuses requests is sent is a matter of ``RatePace``.
struct StreamPace: Equatable {
    /// Requests that may be under way; `Int.max` while there is no limit.
    private(set) var allowed = Int.max
    /// A request had to wait for it, in the interval that runs.
    var isLimiting = false

    private var since: UInt64
    private var answers = 0
    private var latencies: UInt64 = 0
    /// The most requests under way at once in the interval.
    private var peak = 0
    /// The most of late, and since there is a limit: what the limit is a share of. Not the streams: a server may allow any
    /// number, and connections that change places have few.
    private var reach = 0
    /// Microseconds: the lowest mean of an interval; rises slowly.
    private var baseLatency = Double.infinity
    /// Answers in a second: the highest of an interval; falls slowly.
    private var bestRate = 0.0
    /// Intervals in a row whose answers came late and few.
    private var lateIntervals = 0

    /// Nanoseconds.
    private static let interval: UInt64 = 100_000_000
    /// Fewer say nothing, unless they are all of a second's.
    private static let answersLeast = 20
    private static let latencyFactor = 4.0
    /// Microseconds. A sender with thousands of streams makes answers wait for itself.
    private static let latencyRise = 100_000.0
    private static let rateLoss = 0.7

    init(start: UInt64) { since = start }

    /// An answer came, to one of so many requests under way.
    mutating func note(latency: UInt32, underWay: Int) {
        answers += 1
        latencies &+= UInt64(latency)
        if underWay > peak { peak = underWay }
    }

    /// At the end of an interval.
    ///
    /// - Parameter streams: that the servers allow, over all connections.
    mutating func adjust(now: UInt64, streams: Int) {
        let length = now - since
        guard length >= Self.interval, answers >= Self.answersLeast || length >= 10 * Self.interval else { return }
        defer { restart(now: now) }
        guard answers > 0, streams > 0 else { return }
        reach = max(peak, allowed == .max ? reach - reach / 8 : reach)
        if noteLateness(seconds: Double(length) / 1e9) {
            allowed = max(1, reach / 8, min(allowed, reach) / 4 * 3)
        } else {
            rise(streams: streams)
        }
    }

    private mutating func rise(streams: Int) {
        guard allowed != .max, isLimiting else { return }
        allowed += max(1, reach / 32)
        if allowed >= max(streams, reach) { allowed = .max }
    }

    /// The mean of the interval's.
    private var latency: Double { Double(latencies) / Double(answers) }

    private mutating func noteLateness(seconds: Double) -> Bool {
        let (latency, rate) = (latency, Double(answers) / seconds)
        let isLate =
            latency > max(Self.latencyFactor * baseLatency, baseLatency + Self.latencyRise)
            && rate < Self.rateLoss * bestRate
        baseLatency = min(latency, baseLatency * 1.02)
        bestRate = max(rate, bestRate * 0.98)
        lateIntervals = isLate ? lateIntervals + 1 : 0
        return lateIntervals > 1
    }

    private mutating func restart(now: UInt64) {
        since = now
        (answers, latencies, peak) = (0, 0, 0)
        isLimiting = false
    }
}

/// How many requests may be under way while a run begins: as many as were answered, so twice as many with each round trip,
/// until it is clear that the server takes them. A server that takes few a second would else refuse hundreds before its
/// first answer is read.
struct FirstRequests: Equatable {
    private(set) var allowed = FirstRequests.first
    private(set) var isOn = true

    private static let first = 32
    private static let most = 1024

    /// - Parameter answered: answers since the start.
    mutating func note(answered: UInt64) {
        allowed = max(Self.first, Int(min(answered, UInt64(Self.most))))
        if allowed >= Self.most { isOn = false }
    }
}
