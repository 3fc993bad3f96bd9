import APNSBatchRecords

/// The figures of all parts in a short time, mostly a second.
struct CourseSlot {
    /// The seconds for which parts were at work, of all parts together.
    private(set) var worked = 0.0
    private(set) var requests = 0.0
    private(set) var retries = 0.0
    // What parts had at a moment, each multiplied by the seconds for which it had so much.
    private(set) var connections = 0.0
    private(set) var streams = 0.0
    private(set) var inFlight = 0.0
    private(set) var waiting = 0.0
    private(set) var rateLimit = 0.0
    /// The seconds for which parts had a rate limit.
    private(set) var limited = 0.0
    /// The greatest quantiles of any part, in milliseconds; nil without answers.
    private(set) var times: (p50: Double, p90: Double, p99: Double, max: Double)?

    /// Adds a share of the time between two points of a part.
    ///
    /// - Parameter seconds: How much of this time is in the slot.
    mutating func add(_ point: TimelinePoint, since earlier: TimelinePoint, seconds: Double) {
        worked += seconds
        requests += seconds * (point.perSecond(\.requests, since: earlier) ?? 0)
        retries += seconds * (point.perSecond(\.retries, since: earlier) ?? 0)
        // When a session ends, its connections are closed already.
        let state = point.kind == .end ? earlier : point
        connections += seconds * Double(state.connections)
        streams += seconds * Double(state.streams)
        inFlight += seconds * Double(state.inFlight)
        waiting += seconds * Double(state.retrying)
        if let limit = point.rateLimit {
            rateLimit += seconds * limit
            limited += seconds
        }
        if let answers = point.answerTimes { add(answers) }
    }

    private mutating func add(_ answers: TimelinePoint.AnswerMicroseconds) {
        func worst(_ time: UInt32, _ other: Double?) -> Double { max(Double(time) / 1000, other ?? 0) }
        times = (
            worst(answers.p50, times?.p50), worst(answers.p90, times?.p90), worst(answers.p99, times?.p99),
            worst(answers.max, times?.max)
        )
    }
}

extension CourseInterval {
    /// Adds a slot in which parts were at work.
    ///
    /// - Parameter length: The length of the slot in seconds. It is known for how long each part was at work in it, and not whether two
    ///   were at the same time; the most is assumed, so that no rate is too high.
    mutating func add(_ slot: CourseSlot, length: Double) {
        let covered = min(length, slot.worked)
        guard covered > 0 else { return }
        addRates(
            requests: slot.requests / covered, retries: slot.retries / covered, for: covered,
            isMean: covered < length / 2)
        if let times = slot.times {
            addTimes(p50: times.p50, p90: times.p90, p99: times.p99, max: times.max, for: covered)
        }
        addState(
            connections: slot.connections / covered, streams: slot.streams / covered,
            inFlight: slot.inFlight / covered, waiting: slot.waiting / covered, for: covered)
        // Without a limit for one part there is none for all.
        rateLimit = slot.limited >= slot.worked * (1 - 1e-9) ? slot.rateLimit / covered : nil
    }
}
