/// The figures of a run over time: its timeline, divided into at most 360 intervals of equal length. A value is nil where the run
/// has no figures, for instance while no process worked on it. Of a run in parts it has the sums of those parts that were at work, and
/// the greatest times of answers.
public struct RunCourse: Sendable, Codable, Equatable {
    /// When the first interval begins, in milliseconds since 1970-01-01 00:00 UTC.
    public var beginsUnixMilliseconds: Int64
    public var intervalSeconds: Int64
    /// The number of intervals, which is that of the values of each figure.
    public var intervals: Int

    public var requestsPerSecond: Spread
    /// The limit that was in force at the end of each interval; nil where there was none.
    public var rateLimitPerSecond: [Double?]
    /// The rows that ended, by the name of the outcome: only outcomes that rows have.
    public var rowsPerSecond: [String: [Double?]]
    public var answerTimes: AnswerMilliseconds
    public var connections: [Double?]
    /// The streams that the connections allowed, and the requests in flight on them.
    public var streamsAllowed: [Double?]
    public var requestsInFlight: Spread
    /// The requests that were followed by another one for the same row.
    public var retriesPerSecond: [Double?]
    /// The greatest number of rows that waited to be sent again.
    public var rowsWaiting: [Double?]
    /// What kept the run from sending faster, in order of time.
    public var holds: [Hold]
    /// What happened at one moment, in order of time: sessions that began, and changes that operators made.
    public var events: [Event]

    /// The values of a figure at the seconds of each interval.
    public struct Spread: Sendable, Codable, Equatable {
        public var mean: [Double?]
        public var least: [Double?]
        public var greatest: [Double?]
    }

    /// The times from request to answer. The quantiles are means of those of the seconds, and `max` is the greatest one.
    public struct AnswerMilliseconds: Sendable, Codable, Equatable {
        public var p50: [Double?]
        public var p90: [Double?]
        public var p99: [Double?]
        public var max: [Double?]
    }

    /// A time for which mostly one thing held the run back.
    public struct Hold: Sendable, Codable, Equatable {
        /// Such as `rate limit`, `paused` or `pushback`.
        public var cause: String
        /// The indices of its first interval and of the one after its last.
        public var from: Int
        public var to: Int
    }

    /// Something that happened at one moment.
    public struct Event: Sendable, Codable, Equatable {
        public var unixMilliseconds: Int64
        public var text: String

        enum CodingKeys: String, CodingKey {
            case text
            case unixMilliseconds = "unix_ms"
        }
    }

    enum CodingKeys: String, CodingKey {
        case intervals, connections, holds, events
        case beginsUnixMilliseconds = "begins_unix_ms"
        case intervalSeconds = "interval_seconds"
        case requestsPerSecond = "requests_per_second"
        case rateLimitPerSecond = "rate_limit_per_second"
        case rowsPerSecond = "rows_per_second"
        case answerTimes = "answer_ms"
        case streamsAllowed = "streams_allowed"
        case requestsInFlight = "requests_in_flight"
        case retriesPerSecond = "retries_per_second"
        case rowsWaiting = "rows_waiting"
    }

    /// The length of all intervals together.
    var seconds: Int64 { intervalSeconds * Int64(intervals) }

    /// Whether there are enough intervals for a plot.
    var canBePlotted: Bool { intervals >= 3 }
}
