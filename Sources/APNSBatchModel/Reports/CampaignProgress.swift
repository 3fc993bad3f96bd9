/// A snapshot of a running campaign, from which progress bars, the figures in the ledger and the summary are made. Its counts
/// were taken at different moments, some milliseconds apart.
public struct CampaignProgress: Sendable, RowsByOutcome {
    /// The rows by outcome, of all sessions, without requests and reasons.
    public var totals = RunTotals()
    /// The number of rows of the input: exact once the input was read to its end, an estimate until then, and nil while no
    /// estimate is possible.
    public var rowsTotal: UInt64?
    /// The number of bytes of the input that were read.
    public var bytesRead: UInt64 = 0
    /// The input's size in bytes; nil when it is not known.
    public var bytesTotal: UInt64?
    /// The time since ``CampaignRun/send()`` was called; 0 before.
    public var elapsedSeconds: Double = 0
    /// The number of connections that are established, over all lanes.
    public var connections = 0
    /// The number of streams that may be in use at once on these connections; at least ``inFlight``.
    public var streams = 0
    /// The number of requests in flight.
    public var inFlight = 0
    /// The number of rows that wait to be sent again.
    public var retrying = 0
    /// The number of requests that were handed to connections in this session, except those that surely did not arrive.
    public var requests: UInt64 = 0
    /// The number of connections that came up in this session.
    public var connectionsOpened = 0
    /// The number of GOAWAY frames in this session.
    package var goaways = 0
    /// Retries, ends of connections and times of answers of this session; nil unless asked for.
    package var account: LaneAccount?
    /// Whether the run is paused: nothing is sent until ``CampaignRun/unpause()``.
    public var isPaused = false
    /// Whether only the rows of the canary are being sent; see ``Campaign/Canary``.
    public var isCanary = false
    /// Why nothing is sent at the moment; nil while rows are sent, and when there are none to send.
    public var waiting: Waiting?
    /// The limit of requests per second that is in force; nil without one.
    public var rateLimit: Double?
    /// What keeps the run from sending faster; nil while nothing does, and when there is nothing to send.
    public var heldBackBy: Hold?

    package init() {}

    /// The share of the rows that have an outcome, from 0 to 1; nil while the number of rows is not known.
    public var fraction: Double? {
        guard let rowsTotal, rowsTotal > 0 else { return nil }
        return min(1, Double(rows) / Double(rowsTotal))
    }

    /// The number of rows without an outcome, an estimate until the input was read to its end; nil while no estimate is
    /// possible.
    public var rowsLeft: UInt64? { rowsTotal.map { $0 - min($0, rows) } }
    /// The number of rows that are unknown, expired or suppressed.
    public var other: UInt64 { rows &- accepted &- rejected &- unavailable &- invalid }
}

extension CampaignProgress {
    /// What keeps a run from sending faster.
    ///
    /// Later versions may add cases.
    @nonexhaustive
    public enum Hold: UInt8, Sendable, CaseIterable {
        /// The limit of requests per second of the campaign.
        case rate = 1
        /// The same limit, while it rises to its full value.
        case ramp
        /// All streams of the connections are in use.
        case streams
        /// No connection is established, or those that are take no request now: they fail, are about to end, or have not proved
        /// themselves yet.
        case connections
        /// The server refuses requests with 429 or 503, so that fewer are sent.
        case pushback
        /// The next rows of the input have not been read yet.
        case input
        /// Outcomes have not been written yet, or the program has not taken its results.
        case writer
        /// The run is paused.
        case pause
        /// The other lanes wait for the rows of the canary.
        case canary
        /// So many rows wait for another attempt that no other rows are taken.
        case retries
        /// The server has not opened its flow-control windows, so that bodies of requests wait (RFC 9113, section 5.2).
        case windows
        /// Fewer streams are used than the connections allow, because answers take longer and longer, or because the run has just begun.
        case answers
    }

    /// Why nothing is sent at the moment. ``description`` is a text for people.
    ///
    /// Later versions may add cases.
    @nonexhaustive
    public enum Waiting: Sendable, Equatable, CustomStringConvertible {
        /// The run is paused by ``CampaignRun/pause()``.
        case paused
        /// The resolver has not returned an address of this name yet.
        case resolving(name: String)
        /// The first connection is being established: the step that it waits for, and the seconds that it has waited so far.
        case connecting(stage: String, seconds: Int)
        /// No connection is established: the cause, and the seconds for which the run keeps trying. They are 0 if another
        /// attempt would fail alike, and `Int.max` without a limit.
        case unreachable(cause: String, secondsLeft: Int)
        /// The server allows no streams on its connections. The seconds are `Int.max` without a limit.
        case noStreams(secondsLeft: Int)
        /// Requests are in flight, and no answer has come for this number of seconds.
        case noAnswer(seconds: Int)
        /// All rows that could be sent wait for their next attempt, after this cause.
        case backingOff(cause: String)

        /// A text such as `resolving api.push.apple.com`.
        public var description: String {
            switch self {
            case .paused: "paused"
            case .resolving(let name): "resolving \(name)"
            case .connecting(let stage, let seconds): "waiting for \(stage), \(seconds) s so far"
            case .unreachable(let cause, 0): cause
            case .unreachable(let cause, .max): "\(cause); trying again"
            case .unreachable(let cause, let left): "\(cause); trying for \(left) s more"
            case .noStreams(.max): "the server allows no streams"
            case .noStreams(let left): "the server allows no streams; waiting for \(left) s more"
            case .noAnswer(let seconds): "no answer for \(seconds) s"
            case .backingOff(let cause): "backing off after \(cause)"
            }
        }
    }
}
