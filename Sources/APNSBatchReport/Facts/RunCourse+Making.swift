import APNSBatch
import APNSBatchRecords

extension RunCourse {
    static let intervalsMax = 360

    /// Divides the timeline of a run directory into intervals. It is read bit by bit, twice, so that a long night takes no more
    /// memory than a short one.
    ///
    /// - Returns: Nil without a timeline, or if no interval has figures.
    init?(of directory: String) {
        self.init { Self.forEachPoint(of: directory, $0) }
    }

    /// Calls `body` with each point of the timeline of a run directory, in the order in which they were recorded.
    static func forEachPoint(of directory: String, _ body: (TimelinePoint) -> Void) {
        guard var reader = try? TimelineReader(of: directory) else { return }
        while let points = try? reader.read(enough: 1), !points.isEmpty { points.forEach(body) }
    }

    /// Divides a timeline into intervals.
    ///
    /// - Parameter forEach: Calls its argument with each point, in the order in which they were recorded. It is called twice.
    /// - Returns: Nil if no interval has figures.
    init?(_ forEach: ((TimelinePoint) -> Void) -> Void) {
        var span = TimelineSpan()
        forEach { span.add($0) }
        guard let seconds = span.seconds else { return nil }
        let begin = span.begin
        let length = (seconds + Int64(Self.intervalsMax) - 1) / Int64(Self.intervalsMax)
        var all = [CourseInterval](repeating: CourseInterval(), count: Int((seconds + length - 1) / length))
        var (last, events): (TimelinePoint?, [Event]) = (nil, [])
        forEach { point in
            defer { last = point }
            guard let earlier = last else { return }
            guard earlier.session == point.session else {
                let text = Event.text(ofSession: point, after: earlier)
                return events.append(Event(unixMilliseconds: point.unixMilliseconds, text: text))
            }
            let middle = (earlier.unixMilliseconds + point.unixMilliseconds) / 2 - begin
            all[min(all.count - 1, max(0, Int(middle / (1000 * length))))].add(point, since: earlier)
        }
        guard all.contains(where: { $0.seconds > 0 }) else { return nil }
        self.init(all, begin: begin, length: length)
        self.events = events
    }

    /// The longest time of an answer, in milliseconds; nil without answers.
    var longestAnswer: Double? { answerTimes.max.compactMap(\.self).max() }

    /// Adds what operators changed while the run went on.
    mutating func add(_ changes: [RunChange]) {
        events += changes.map { change in
            // A ledger can contain any number.
            Event(unixMilliseconds: Int64(min(change.time, 1 << 40)) * 1000, text: change.text)
        }
        events.sort { $0.unixMilliseconds < $1.unixMilliseconds }
    }

    init(_ all: [CourseInterval], begin: Int64, length: Int64) {
        func values(_ value: (CourseInterval) -> Double?) -> [Double?] { all.map { value($0).map(Self.rounded) } }
        (beginsUnixMilliseconds, intervalSeconds, intervals) = (begin, length, all.count)
        requestsPerSecond = Spread(
            mean: values(\.requests.mean), least: values(\.requests.least), greatest: values(\.requests.greatest))
        rateLimitPerSecond = values(\.rateLimit)
        rowsPerSecond = [:]
        for outcome in Outcome.allCases where all.contains(where: { $0.rows(outcome) > 0 }) {
            rowsPerSecond["\(outcome.name)"] = values { $0.seconds > 0 ? $0.rows(outcome) / $0.seconds : nil }
        }
        answerTimes = AnswerMilliseconds(
            p50: values(\.p50.mean), p90: values(\.p90.mean), p99: values(\.p99.mean), max: values(\.longest.greatest))
        connections = values(\.connections.mean)
        streamsAllowed = values(\.streams.mean)
        requestsInFlight = Spread(
            mean: values(\.inFlight.mean), least: values(\.inFlight.least), greatest: values(\.inFlight.greatest))
        retriesPerSecond = values(\.retries.mean)
        rowsWaiting = values(\.waiting.greatest)
        holds = Self.holds(all.map(\.hold))
        events = []
    }

    /// Four digits are enough for a plot, and keep the report small.
    private static func rounded(_ value: Double) -> Double {
        guard value.magnitude >= 1e-6, value.isFinite else { return 0 }
        var scale = 1.0
        while value.magnitude * scale < 1000 { scale *= 10 }
        return (value * scale).rounded() / scale
    }

    private static func holds(_ causes: [String?]) -> [Hold] {
        var holds: [Hold] = []
        for (index, cause) in causes.enumerated() {
            guard let cause else { continue }
            if let last = holds.last, last.cause == cause, last.to == index {
                holds[holds.count - 1].to = index + 1
            } else {
                holds.append(Hold(cause: cause, from: index, to: index + 1))
            }
        }
        return holds
    }
}

/// The time from the first to the last point of timelines.
struct TimelineSpan {
    private(set) var begin = Int64.max
    private var end = Int64.min
    private var points = 0

    mutating func add(_ point: TimelinePoint) {
        (begin, end) = (min(begin, point.unixMilliseconds), max(end, point.unixMilliseconds))
        points += 1
    }

    /// The whole seconds, at least 1. Nil with less than two points, and for a clock that is wrong by centuries, which must not overflow.
    var seconds: Int64? {
        guard points > 1, begin > -(1 << 52), end < 1 << 52 else { return nil }
        return max(1, (end - begin + 999) / 1000)
    }
}

extension RunCourse.Event {
    /// Says that a session begins, and whether the one before it ended in order.
    static func text(ofSession point: TimelinePoint, after earlier: TimelinePoint) -> String {
        let killed = earlier.kind == .end ? "" : "; session \(earlier.session) was killed"
        return "session \(point.session) begins\(killed)"
    }
}
