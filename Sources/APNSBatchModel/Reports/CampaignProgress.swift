/// A snapshot of a running campaign, from which progress bars, the figures in the ledger and the summary are made. Its counts
/// were taken at different moments, some milliseconds apart.
public struct CampaignProgress: Sendable {
    package var outcomes: OutcomeCounts = [:]
    /// Rows of the input, exact once it was read to its end, until then about so many; nil where nobody can say.
    public var rowsTotal: UInt64?
    /// Of the input.
    public var bytesRead: UInt64 = 0
    /// The input's size, where it is known.
    public var bytesTotal: UInt64?
    public var elapsedSeconds: Double = 0
    /// Connections that are up, over all lanes.
    public var connections = 0
    /// Streams of them that may be in use at once; at least ``inFlight``.
    public var streams = 0
    /// Requests that wait for an answer.
    public var inFlight = 0
    /// Rows that wait to be sent again.
    public var retrying = 0
    /// Requests that were handed to connections by this process, except those that surely did not arrive.
    public var requests: UInt64 = 0
    /// Connections that this process has opened.
    public var connectionsOpened = 0
    /// Retries, ends of connections and times of answers, as far as this process counted them; nil unless asked for.
    package var account: LaneAccount?
    /// Nothing is sent until ``CampaignRun/unpause()``.
    public var isPaused = false
    /// The first rows go alone; see ``Campaign/Canary``.
    public var isCanary = false
    /// Why nothing is sent at the moment; nil while rows are sent, and when there are none.
    public var waiting: Waiting?

    package init() {}

    /// The share of the rows that have ended, from 0 to 1; nil while the number of rows is not known.
    public var fraction: Double? {
        guard let rowsTotal, rowsTotal > 0 else { return nil }
        return min(1, Double(rows) / Double(rowsTotal))
    }

    /// Rows that have ended.
    public var rows: UInt64 { outcomes.sum }
    /// Rows that APNs took; of a check, rows that would be sent.
    public var accepted: UInt64 { outcomes[.accepted] }
    /// Rows that APNs refused.
    public var rejected: UInt64 { outcomes[.rejected] }
    /// Rows that APNs put off until their attempts were used up.
    public var unavailable: UInt64 { outcomes[.unavailable] }
    /// Rows that were not sent because something is wrong with them.
    public var invalid: UInt64 { outcomes[.invalid] }
    /// Unknown, expired and suppressed rows.
    public var other: UInt64 { rows - accepted - rejected - unavailable - invalid }
}

extension CampaignProgress {
    /// Why nothing is sent at the moment; ``description`` says it to a person.
    ///
    /// New kinds may come: switch with a default.
    public enum Waiting: Sendable, Equatable, CustomStringConvertible {
        /// ``CampaignRun/pause()`` is in force.
        case paused
        /// The resolver has not told an address of this name yet.
        case resolving(name: String)
        /// A first connection is coming up: what it waits for, and for how many seconds it has.
        case connecting(stage: String, seconds: Int)
        /// No connection can be had, and for how many more seconds that is tried.
        case unreachable(cause: String, secondsLeft: Int)
        /// The server allows no streams on its connections.
        case noStreams(secondsLeft: Int)
        /// Requests are under way, and no answer has come for so many seconds.
        case noAnswer(seconds: Int)
        /// All rows that could be sent wait for their next attempt.
        case backingOff(cause: String)

        public var description: String {
            switch self {
            case .paused: "paused"
            case .resolving(let name): "resolving \(name)"
            case .connecting(let stage, let seconds): "waiting for \(stage), \(seconds) s so far"
            case .unreachable(let cause, let left): "\(cause); trying for \(left) s more"
            case .noStreams(let left): "the server allows no streams; waiting for \(left) s more"
            case .noAnswer(let seconds): "no answer for \(seconds) s"
            case .backingOff(let cause): "backing off after \(cause)"
            }
        }
    }
}
