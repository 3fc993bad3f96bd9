/// What became of a campaign: the content of `summary.json`.
public struct CampaignSummary: Sendable, Codable, Equatable {
    /// Rows that have a line in `results.csv`, also of processes before this one; the sum of the seven outcomes below.
    public var rows: UInt64
    public var accepted: UInt64
    public var rejected: UInt64
    public var unavailable: UInt64
    public var invalid: UInt64
    public var unknown: UInt64
    public var expired: UInt64
    public var suppressed: UInt64
    /// Requests made for them, second attempts included.
    public var attempts: UInt64
    public var elapsedSeconds: Double
    public var acceptedPerSecond: Double
    /// Processor time of the whole process, user and system.
    public var cpuSeconds: Double
    /// What of it went into the ledger.
    public var ledgerCPUSeconds: Double
    public var peakRSSBytes: UInt64
    /// The event loop that ran: `io_uring` or `epoll`; `none` when none could.
    public var loop: String
    /// Connections that came up.
    public var connections: Int
    /// Rejected rows by APNs's reason.
    public var reasons: [String: UInt64]
    /// Unavailable rows by APNs's last reason.
    public var unavailableReasons: [String: UInt64]
    /// How the run ended: `complete`, `interrupted` or `failed`.
    public var ending: Ending
    /// Why it did not complete; absent when it did.
    public var cause: String?
    /// Rows that have the device token of another row, of those that this process sent; nil when there are none.
    public var duplicateTokens: DuplicateTokens?
    /// Rows whose device token has another size than all have today, of those that this process sent; nil when there are
    /// none.
    public var unusualTokens: UnusualTokens?

    public enum Ending: String, Sendable, Codable {
        /// The whole input was read, and every row of it has its line.
        case complete
        /// Somebody stopped it. Rows without a line have no final answer; a resumed run sends them.
        case interrupted
        /// A fatal answer, an unreachable APNs, a broken input or a full disk ended it. Rows without a line have no final
        /// answer; a resumed run sends them.
        case failed
    }

    enum CodingKeys: String, CodingKey {
        case rows, accepted, rejected, unavailable, invalid, unknown, expired, suppressed, attempts
        case elapsedSeconds = "elapsed_seconds"
        case acceptedPerSecond = "accepted_per_second"
        case cpuSeconds = "cpu_seconds"
        case ledgerCPUSeconds = "ledger_cpu_seconds"
        case peakRSSBytes = "peak_rss_bytes"
        case unavailableReasons = "unavailable_reasons"
        case loop, connections, reasons, ending, cause
        case duplicateTokens = "duplicate_tokens"
        case unusualTokens = "unusual_tokens"
    }

    /// Whether every row got a final answer from APNs, and not only rejections. An input without rows is not clean.
    public var isClean: Bool {
        ending == .complete && unavailable + invalid + unknown + expired + suppressed == 0 && accepted > 0
    }
}

/// A look at a running campaign. Counts are of different moments, some milliseconds apart.
public struct CampaignProgress: Sendable {
    /// Rows that APNs took; of a check, rows that would be sent.
    public var accepted: UInt64 = 0
    /// Rows that APNs refused.
    public var rejected: UInt64 = 0
    /// Rows that APNs put off until their attempts were used up.
    public var unavailable: UInt64 = 0
    /// Rows that were not sent because something is wrong with them.
    public var invalid: UInt64 = 0
    /// Unknown, expired and suppressed rows.
    public var other: UInt64 = 0
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
    /// Nothing is sent until ``CampaignRun/unpause()``.
    public var isPaused = false
    /// The first rows go alone; see ``Campaign/Canary``.
    public var isCanary = false
    /// Why nothing is sent at the moment; nil while rows are sent, and when there are none.
    public var waiting: Waiting?

    public var rows: UInt64 { accepted + rejected + unavailable + invalid + other }
}
