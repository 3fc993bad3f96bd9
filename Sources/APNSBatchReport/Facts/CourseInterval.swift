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
    private(set) var rateLimit: Double?
    /// The rows that ended, by the outcome's raw value.
    private var rows: [Outcome: UInt64] = [:]
    /// The seconds for which each cause held the run back.
    private var held: [String: Double] = [:]

    func rows(_ outcome: Outcome) -> Double { Double(rows[outcome] ?? 0) }

    /// What held the run back for most of the time in which something did; nil if nothing did for more than half of it.
    var hold: String? {
        let most = held.max { ($0.value, $1.key) < ($1.value, $0.key) }
        return most.flatMap { 2 * held.values.reduce(0, +) >= seconds ? $0.key : nil }
    }

    /// Adds the time between two points of a session.
    mutating func add(_ point: TimelinePoint, since earlier: TimelinePoint) {
        guard let requests = point.perSecond(\.requests, since: earlier),
            let retries = point.perSecond(\.retries, since: earlier)
        else { return }
        let elapsed = Double(point.elapsedMilliseconds - earlier.elapsedMilliseconds) / 1000
        seconds += elapsed
        self.requests.add(requests, weight: elapsed, isMean: elapsed < 0.5)
        self.retries.add(retries, weight: elapsed, isMean: elapsed < 0.5)
        for outcome in Outcome.allCases where point[outcome] > earlier[outcome] {
            rows[outcome, default: 0] += point[outcome] - earlier[outcome]
        }
        add(point, for: elapsed)
    }

    /// Adds what a point says of its moment.
    private mutating func add(_ point: TimelinePoint, for elapsed: Double) {
        if let times = point.answerTimes {
            p50.add(Double(times.p50) / 1000, weight: elapsed)
            p90.add(Double(times.p90) / 1000, weight: elapsed)
            p99.add(Double(times.p99) / 1000, weight: elapsed)
            longest.add(Double(times.max) / 1000, weight: elapsed)
        }
        // When a session ends, its connections are closed already.
        if point.kind != .end {
            connections.add(Double(point.connections), weight: elapsed)
            streams.add(Double(point.streams), weight: elapsed)
            inFlight.add(Double(point.inFlight), weight: elapsed)
            waiting.add(Double(point.retrying), weight: elapsed)
        }
        rateLimit = point.rateLimit
        if let cause = Self.cause(point) { held[cause, default: 0] += elapsed }
    }

    private static func cause(_ point: TimelinePoint) -> String? {
        if point.isPaused { return "paused" }
        return switch point.heldBackBy {
        case nil: point.isWaiting ? "nothing can be sent" : nil
        case .rate: "rate limit"
        case .ramp: "ramp"
        case .streams: "all streams in use"
        case .connections: "no connection"
        case .pushback: "pushback"
        case .input: "input"
        case .writer: "disk"
        case .pause: "paused"
        case .canary: "canary"
        case .retries: "retries"
        }
    }
}
