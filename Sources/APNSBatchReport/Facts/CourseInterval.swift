import APNSBatch

/// The figures of the seconds of one interval of a timeline.
struct CourseInterval {
    /// The values of a figure, each with the seconds for which it held.
    struct Values {
        private var sum = 0.0
        private var weight = 0.0
        private(set) var least: Double?
        private(set) var greatest: Double?

        var mean: Double? { weight > 0 ? sum / weight : nil }

        /// - Parameter isMean: Whether the value only counts for the mean, as a rate of a fraction of a second does.
        mutating func add(_ value: Double, weight: Double, isMean: Bool = false) {
            sum += value * weight
            self.weight += weight
            if isMean { return }
            least = min(least ?? value, value)
            greatest = max(greatest ?? value, value)
        }
    }

    private(set) var seconds = 0.0
    private(set) var requests = Values()
    private(set) var retries = Values()
    private(set) var p50 = Values()
    private(set) var p90 = Values()
    private(set) var p99 = Values()
    private(set) var longest = Values()
    private(set) var connections = Values()
    private(set) var streams = Values()
    private(set) var inFlight = Values()
    private(set) var waiting = Values()
    /// The limit at the end of the interval.
    var rateLimit: Double?
    /// The rows that ended.
    private var rows: [Outcome: UInt64] = [:]
    /// The seconds of work, and those for which each cause held it back. Of parts that are sent at the same time, both have the seconds
    /// of each.
    private var worked = 0.0
    private var held: [String: Double] = [:]

    func rows(_ outcome: Outcome) -> Double { Double(rows[outcome] ?? 0) }

    /// What held the run back for most of the time in which something did; nil if nothing did for more than half of it.
    var hold: String? {
        let most = held.max { ($0.value, $1.key) < ($1.value, $0.key) }
        return most.flatMap { 2 * held.values.reduce(0, +) >= worked ? $0.key : nil }
    }

    /// Adds the time between two points of a session.
    mutating func add(_ point: TimelinePoint, since earlier: TimelinePoint) {
        guard let requests = point.perSecond(\.requests, since: earlier),
            let retries = point.perSecond(\.retries, since: earlier)
        else { return }
        let elapsed = Double(point.elapsedMilliseconds - earlier.elapsedMilliseconds) / 1000
        addRates(requests: requests, retries: retries, for: elapsed, isMean: elapsed < 0.5)
        addRows(of: point, since: earlier, for: elapsed)
        if let times = point.answerTimes {
            addTimes(
                p50: Double(times.p50) / 1000, p90: Double(times.p90) / 1000, p99: Double(times.p99) / 1000,
                max: Double(times.max) / 1000, for: elapsed)
        }
        // When a session ends, its connections are closed already.
        if point.kind != .end {
            addState(
                connections: Double(point.connections), streams: Double(point.streams),
                inFlight: Double(point.inFlight), waiting: Double(point.retrying), for: elapsed)
        }
        rateLimit = point.rateLimit
    }

    /// Adds rates of some seconds.
    mutating func addRates(requests: Double, retries: Double, for seconds: Double, isMean: Bool) {
        self.seconds += seconds
        self.requests.add(requests, weight: seconds, isMean: isMean)
        self.retries.add(retries, weight: seconds, isMean: isMean)
    }

    /// Adds the rows that ended between two points, and what held them back.
    mutating func addRows(of point: TimelinePoint, since earlier: TimelinePoint, for elapsed: Double) {
        for outcome in Outcome.allCases where point[outcome] > earlier[outcome] {
            rows[outcome, default: 0] &+= point[outcome] - earlier[outcome]
        }
        worked += elapsed
        if let cause = Self.cause(point) { held[cause, default: 0] += elapsed }
    }

    /// Adds times of answers, in milliseconds.
    mutating func addTimes(p50: Double, p90: Double, p99: Double, max: Double, for seconds: Double) {
        self.p50.add(p50, weight: seconds)
        self.p90.add(p90, weight: seconds)
        self.p99.add(p99, weight: seconds)
        longest.add(max, weight: seconds)
    }

    /// Adds what there was for some seconds.
    mutating func addState(connections: Double, streams: Double, inFlight: Double, waiting: Double, for seconds: Double)
    {
        self.connections.add(connections, weight: seconds)
        self.streams.add(streams, weight: seconds)
        self.inFlight.add(inFlight, weight: seconds)
        self.waiting.add(waiting, weight: seconds)
    }

    private static func cause(_ point: TimelinePoint) -> String? {
        if point.isPaused { return "paused" }
        return switch point.heldBackBy {
        case nil: point.isWaiting ? "nothing can be sent" : nil
        case .rate: "rate limit"
        case .ramp: "ramp"
        case .streams: "all streams in use"
        case .connections: "no usable connection"
        case .windows: "flow-control windows"
        case .answers: "late answers"
        case .pushback: "pushback"
        case .input: "input"
        case .writer: "disk"
        case .pause: "paused"
        case .canary: "canary"
        case .retries: "retries"
        }
    }
}
