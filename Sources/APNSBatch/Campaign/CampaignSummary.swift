import APNSBatchModel

/// What became of a campaign: the content of `summary.json`.
///
/// A session is one process at work on the run. Rows, outcomes and their reasons are those of the whole run, as the ledger
/// has them. What sessions did besides stands in two objects of the same form: `all_sessions` and `last_session`.
public struct CampaignSummary: Sendable, Codable, Equatable {
    /// Rows that have a line in `results.csv`; the sum of the seven outcomes below.
    public var rows: UInt64
    public var accepted: UInt64 = 0
    public var rejected: UInt64 = 0
    public var unavailable: UInt64 = 0
    public var invalid: UInt64 = 0
    public var unknown: UInt64 = 0
    public var expired: UInt64 = 0
    public var suppressed: UInt64 = 0
    /// Rows of the input without a line; nil where nobody can say. The sum of the three below.
    public var left: UInt64?
    /// Of these: rows that may have been sent; ``UnknownPolicy`` decides about them when the run is resumed.
    public var maybeSent: UInt64?
    /// Of these: rows that were read and never sent, or answered in a way that lets them be sent again.
    public var notSent: UInt64?
    /// Of these: rows that were not read.
    public var notRead: UInt64?
    /// Whether `left` and `not_read` are estimated by the bytes that were not read.
    public var isLeftEstimated: Bool
    /// Requests made for the rows that have a line, as it says there: those of earlier processes as far as they are known.
    public var attempts: UInt64
    /// Rows that were sent again although an earlier request may have arrived: they may have arrived twice.
    public var resent: UInt64
    /// Processes that worked on the run.
    public var sessions: Int
    /// What all sessions did. Of one that was killed it is known up to its last mark in the ledger: a second before, or a minute
    /// for `retries`, `connections_ended` and `answer_ms` (``Campaign/syncInterval``, and sixty times that).
    public var allSessions: Work
    /// What the last session did, which is included above.
    public var lastSession: Work
    /// Rejected rows by APNs's reason.
    public var reasons: [String: UInt64]
    /// Unavailable rows by APNs's last reason.
    public var unavailableReasons: [String: UInt64]
    /// Invalid rows by the rule that they break; their sum is `invalid`. Rows that version 0.1.0 recorded stand under
    /// `not recorded`.
    public var invalidRules: [String: InvalidRows]
    /// How the run ended: `complete`, `interrupted` or `failed`.
    public var ending: Ending
    /// Why it did not complete; absent when it did.
    public var cause: String?
    /// What the command ends with.
    public var exitCode: Int32
    /// Of what the campaign was.
    public var campaign: Identity

    /// Rows that break a rule.
    public struct InvalidRows: Sendable, Codable, Equatable {
        public var rows: UInt64
        /// The first three, as `rows.csv:2:1`: file, line and column.
        public var places: [String]
    }

    /// Times from a request to its answer, in milliseconds. The quantiles are right to one percent, of the first thousand
    /// answers of a lane and every sixteenth of the others; `max` is exact, and of all answers.
    public struct AnswerMilliseconds: Sendable, Codable, Equatable {
        public var p50: Double
        public var p90: Double
        public var p99: Double
        public var max: Double
        /// Answers that the quantiles are of.
        public var samples: UInt64
    }

    /// What one session did, or all of them together.
    public struct Work: Sendable, Codable, Equatable {
        /// Rows that ended, and those of them that were accepted.
        public var rows: UInt64
        public var accepted: UInt64
        /// Requests, but for those that surely did not arrive. `attempts` has only those of rows that have a line.
        public var requests: UInt64
        public var elapsedSeconds: Double
        public var acceptedPerSecond: Double
        /// Connections that came up.
        public var connectionsOpened: UInt64
        /// Of these, those that ended before the work was done, by why they did.
        public var connectionsEnded: [String: UInt64]
        /// Answers and lost requests that were followed by another request for the row, by what they were.
        public var retries: [String: UInt64]
        /// How long answers took; nil without answers.
        public var answerTimes: AnswerMilliseconds?
        /// What the process used; nil of all sessions together, and where only the ledger is left to tell.
        public var process: Process?
        /// Rows that have the device token of another row, of those that the session sent; nil when there are none, and of all
        /// sessions together.
        public var duplicateTokens: DuplicateTokens?
        /// Rows whose device token has another size than all have today; likewise.
        public var unusualTokens: UnusualTokens?

        enum CodingKeys: String, CodingKey {
            case rows, accepted, requests, retries, process
            case elapsedSeconds = "elapsed_seconds"
            case acceptedPerSecond = "accepted_per_second"
            case connectionsOpened = "connections_opened"
            case connectionsEnded = "connections_ended"
            case answerTimes = "answer_ms"
            case duplicateTokens = "duplicate_tokens"
            case unusualTokens = "unusual_tokens"
        }
    }

    /// What a process used.
    public struct Process: Sendable, Codable, Equatable {
        /// Processor time, user and system.
        public var cpuSeconds: Double
        /// What of it went into the ledger.
        public var ledgerCPUSeconds: Double
        public var peakRSSBytes: UInt64
        /// The event loop: `io_uring` or `epoll`; `none` when none ran.
        public var loop: String

        enum CodingKeys: String, CodingKey {
            case loop
            case cpuSeconds = "cpu_seconds"
            case ledgerCPUSeconds = "ledger_cpu_seconds"
            case peakRSSBytes = "peak_rss_bytes"
        }
    }

    /// What the campaign was.
    public struct Identity: Sendable, Codable, Equatable {
        /// A UUID, from which `apns-id`s derive.
        public var id: String
        /// Of this program.
        public var version: String
        /// Host and port.
        public var destination: String
        /// What the input was called.
        public var input: String
        /// Nil for a pipe.
        public var inputBytes: UInt64?
        /// The CRC-32C of the input, in hexadecimal digits, over the bytes that were read; nil for a pipe, and unless the run is
        /// complete.
        public var inputCRC32C: String?
        /// `sha256-` and the SHA-256 of the template in base64; nil without one, or with several. Hexadecimal digits would look
        /// like a device token.
        public var templateDigest: String?
        /// When the first process began and the last one ended: UTC, `2026-11-21T03:00:00Z`.
        public var began: String
        public var ended: String

        enum CodingKeys: String, CodingKey {
            case id, version, destination, input, began, ended
            case inputBytes = "input_bytes"
            case inputCRC32C = "input_crc32c"
            case templateDigest = "template_digest"
        }
    }

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
        case rows, accepted, rejected, unavailable, invalid, unknown, expired, suppressed, left, attempts, resent
        case sessions, reasons, ending, cause, campaign
        case allSessions = "all_sessions"
        case lastSession = "last_session"
        case maybeSent = "may_be_sent"
        case notSent = "not_sent"
        case notRead = "not_read"
        case isLeftEstimated = "left_is_estimated"
        case unavailableReasons = "unavailable_reasons"
        case exitCode = "exit_code"
        case invalidRules = "invalid_rules"
    }

    /// Whether every row got a final answer from APNs, and not only rejections. An input without rows is not clean.
    public var isClean: Bool { ending == .complete && accepted > 0 && accepted + rejected == rows }

    /// How many rows ended so.
    public subscript(outcome: Outcome) -> UInt64 {
        get { self[keyPath: Self.path(of: outcome)] }
        set { self[keyPath: Self.path(of: outcome)] = newValue }
    }

    private static func path(of outcome: Outcome) -> WritableKeyPath<CampaignSummary, UInt64> {
        switch outcome {
        case .accepted: \.accepted
        case .rejected: \.rejected
        case .unavailable: \.unavailable
        case .invalid: \.invalid
        case .unknown: \.unknown
        case .expired: \.expired
        case .suppressed: \.suppressed
        }
    }
}
