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

    private var since: UInt64
    private var answers = 0
    private var latencies: UInt64 = 0
    /// The maximum number of requests in flight in the interval.
    private var peak = 0
    /// The recent maximum of requests in flight, or the one since there is a limit, of which the limit is a share. The
    /// number of allowed streams is not suitable: a server may allow any number, and connections that are being replaced
    /// have few.
    private var reach = 0
    /// The lowest mean latency of an interval, in microseconds; it rises slowly.
    private var baseLatency = Double.infinity
    /// The highest rate of an interval, in answers per second; it falls slowly.
    private var bestRate = 0.0
    /// The number of consecutive intervals whose answers came late and few.
    private var lateIntervals = 0

    /// The length of an interval, in nanoseconds.
    private static let interval: UInt64 = 100_000_000
    /// The number of answers that an interval needs, unless it lasts a second.
    private static let answersLeast = 20
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
        answers += 1
        latencies &+= UInt64(latency)
        if inFlight > peak { peak = inFlight }
    }

    /// Adjusts the limit at the end of an interval.
    ///
    /// - Parameter streams: The number of streams that the servers allow, over all connections.
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

    /// The mean latency of the interval, in microseconds.
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
