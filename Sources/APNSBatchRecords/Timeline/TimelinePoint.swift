import APNSBatchModel

/// The figures of a run at one moment, as its timeline holds them.
///
/// Counts only grow within a session, so that the rate of an interval is the difference of two points divided by the difference
/// of their ``elapsedMilliseconds``. There is no point for a time in which the process did not run, for instance because the
/// machine slept.
public struct TimelinePoint: Sendable, Equatable, RowsByOutcome {
    /// Why a point was recorded.
    @nonexhaustive
    public enum Kind: UInt8, Sendable, CaseIterable {
        /// A session began.
        case begin = 2
        /// A second of a session has passed.
        case second = 3
        /// A session ended in order.
        case end = 4
    }

    /// The times from request to answer of the answers since the point before, in microseconds, with a precision of one
    /// percent.
    public struct AnswerMicroseconds: Sendable, Equatable {
        /// Half of the answers took no longer.
        public var p50: UInt32
        /// 90 % of the answers took no longer.
        public var p90: UInt32
        /// 99 % of the answers took no longer.
        public var p99: UInt32
        /// The longest time.
        public var max: UInt32

        package init(p50: UInt32, p90: UInt32, p99: UInt32, max: UInt32) {
            (self.p50, self.p90, self.p99, self.max) = (p50, p90, p99, max)
        }
    }

    /// Why it was recorded.
    public var kind: Kind
    /// The time of day, in milliseconds since 1970-01-01 00:00 UTC.
    public var unixMilliseconds: Int64 = 0
    /// The time since the session began, by a clock that is never set.
    public var elapsedMilliseconds: UInt64 = 0
    /// The number of the session, from 1.
    public var session: UInt32 = 0
    /// Whether the run was paused.
    public var isPaused = false
    /// Whether only the rows of the canary were sent.
    public var isCanary = false
    /// Whether nothing was sent for a reason, such as a name that does not resolve; see ``CampaignProgress/waiting``.
    public var isWaiting = false
    /// What kept the run from sending faster; nil while nothing did.
    public var heldBackBy: CampaignProgress.Hold?
    /// The rows by outcome, of all sessions, without requests and reasons.
    public var totals = RunTotals()
    /// The number of rows of the input, which may be an estimate; nil if it was not known.
    public var rowsTotal: UInt64?
    /// The number of requests of the session, except those that certainly did not arrive.
    public var requests: UInt64 = 0
    /// The number of requests of the session that were followed by another one for the same row.
    public var retries: UInt64 = 0
    /// The number of answers of the session.
    public var answers: UInt64 = 0
    /// The times of the answers since the point before; nil if there were none.
    public var answerTimes: AnswerMicroseconds?
    /// The number of bytes of the input that the session has read.
    public var bytesRead: UInt64 = 0
    /// The processor time of the process, user and system, in microseconds.
    public var cpuMicroseconds: UInt64 = 0
    /// The resident set size of the process, in bytes.
    public var rssBytes: UInt64 = 0
    /// The limit of requests per second that was in force; nil without one.
    public var rateLimit: Double?
    /// The number of connections that came up in the session.
    public var connectionsOpened: UInt32 = 0
    /// The number of connections that were established.
    public var connections: UInt32 = 0
    /// The number of streams that these connections allowed at once.
    public var streams: UInt32 = 0
    /// The number of requests in flight.
    public var inFlight: UInt32 = 0
    /// The number of rows that waited to be sent again.
    public var retrying: UInt32 = 0

    package init(_ kind: Kind) { self.kind = kind }

    /// Returns by how much a count grew per second since an earlier point; nil if that is of another session.
    public func perSecond(_ count: KeyPath<TimelinePoint, UInt64>, since earlier: TimelinePoint) -> Double? {
        guard session == earlier.session, elapsedMilliseconds > earlier.elapsedMilliseconds else { return nil }
        let seconds = Double(elapsedMilliseconds - earlier.elapsedMilliseconds) / 1000
        let (now, then) = (self[keyPath: count], earlier[keyPath: count])
        return now >= then ? Double(now - then) / seconds : nil
    }
}
