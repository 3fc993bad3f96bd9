import APNSBatchModel

/// The result of a campaign: the content of `summary.json`.
///
/// A session is one process that works on the run. Rows, outcomes and their reasons are those of the whole run, as recorded
/// in the ledger. Other figures of sessions are in two objects of the same form, `all_sessions` and `last_session`.
public struct CampaignSummary: Sendable, Equatable, RowsByOutcome {
    /// The rows that have a line in `results.csv`, by outcome, with their requests and reasons.
    public var totals = RunTotals()
    /// The number of rows of the input without a line, which is the sum of the three below; nil if it is not known.
    public var left: UInt64?
    /// The number of these rows that may have been sent. ``UnknownPolicy`` decides about them when the run is resumed.
    public var maybeSent: UInt64?
    /// The number of these rows that were read and never sent, or have an answer after which they can be sent again.
    public var notSent: UInt64?
    /// The number of these rows that were not read.
    public var notRead: UInt64?
    /// Whether `left` and `not_read` are estimated from the number of unread bytes.
    public var isLeftEstimated: Bool
    /// The number of sessions.
    public var sessions: Int
    /// The number of sessions whose process was killed, or whose disk failed, so that a part of their work is not in ``allSessions``; nil if
    /// there is none, and in summaries of earlier versions.
    public var killedSessions: Int?
    /// The work of all sessions. That of a session that was killed is known up to its last mark in the ledger: about a
    /// second before the end, or a minute for `retries`, `connections_ended` and `answer_ms` (``Campaign/syncInterval``, and
    /// sixty times that).
    public var allSessions: Work
    /// The work of the last session, which is included above.
    public var lastSession: Work
    /// The invalid rows by the rule that they violate; their sum is `invalid`. The key `not recorded` stands for the rows
    /// that version 0.1.0 recorded.
    public var invalidRules: [String: InvalidRows]
    /// The rows by the values of the columns of ``Campaign/reportBy``, of all sessions; nil without such a column, and if the results could not
    /// be read.
    public var breakdowns: [Breakdown]?
    /// What operators changed while the run went on, in the order in which they did.
    public var changes: [RunChange] = []
    /// How the run ended: `complete`, `interrupted` or `failed`.
    public var ending: Ending
    /// Why the run did not complete; nil if it did.
    public var cause: String?
    /// The exit code of the command: 2 if the run is complete and does not meet an expectation.
    public var exitCode: Int32
    /// The expectations of a complete run, ``Campaign/expectations`` and the standard ones; empty if it is not complete.
    public var expectations: [JudgedExpectation] = []
    /// One sentence about the run. It begins with `OK`, `LOOK` (complete, but an expectation is not met) or `FAILED` (not
    /// complete), and the next step.
    public var verdict = ""
    /// The identity of the campaign.
    public var campaign: Identity
    /// The absolute path of the run whose rows this one sent again, corrected; nil for a run of an input of its own.
    public var correctionOf: String?
    /// The name of the file in the run directory that has the lines of rows which ended as ``Outcome/invalid``, ``Outcome/expired`` or
    /// ``Outcome/unavailable``, such as `not-sent.csv`; nil if there is none.
    public var notSentFile: String?
    /// Other runs of the campaign that have rows without an outcome, the oldest first; nil if there are none, or if the campaign has no
    /// ``Campaign/book``. Unless a process is working on it, each of them is a reason to look.
    public var unfinished: [UnfinishedRun]?

    /// How many rows were sent, and what to do, if the record of the run was removed or replaced while it went on; nil if it was not. It is a part
    /// of ``verdict``, and not of `summary.json`, for which there is no directory any more.
    public internal(set) var lostRecord: String?

    /// The rows that violate one rule.
    public struct InvalidRows: Sendable, Codable, Equatable {
        /// The number of rows.
        public var rows: UInt64
        /// File, line and column of the first three rows, such as `rows.csv:2:1`.
        public var places: [String]
    }

    /// Times from a request to its answer, in milliseconds, over all answers. The quantiles have a precision of one percent;
    /// `max` is exact.
    public struct AnswerMilliseconds: Sendable, Codable, Equatable {
        /// Half of the answers took no longer.
        public var p50: Double
        /// 90 % of the answers took no longer.
        public var p90: Double
        /// 99 % of the answers took no longer.
        public var p99: Double
        /// The longest time.
        public var max: Double
        /// The number of answers. Sessions of earlier versions count a sample of them.
        public var samples: UInt64
    }

    /// The answers whose times lie between those of two bins.
    public struct AnswerBin: Sendable, Codable, Equatable {
        /// The longest time, in milliseconds: a power of the tenth root of ten. Shorter times belong to the bin before.
        public var upToMilliseconds: Double
        /// The number of answers.
        public var answers: UInt64

        enum CodingKeys: String, CodingKey {
            case answers
            case upToMilliseconds = "up_to_ms"
        }
    }

    /// The work of one session, or of all sessions together.
    public struct Work: Sendable, Codable, Equatable {
        /// The number of rows that ended.
        public var rows: UInt64
        /// The number of rows that APNs accepted.
        public var accepted: UInt64
        /// The number of requests, except those that certainly did not arrive. `attempts` only has those of rows with a
        /// line.
        public var requests: UInt64
        /// The time that the sessions worked.
        public var elapsedSeconds: Double
        /// ``accepted`` divided by ``elapsedSeconds``.
        public var acceptedPerSecond: Double
        /// The number of connections that were established.
        public var connectionsOpened: UInt64
        /// The number of these that ended before the work was done, by cause.
        public var connectionsEnded: [String: UInt64]
        /// The number of answers and lost requests that were followed by another request for the row, by cause.
        public var retries: [String: UInt64]
        /// The times from request to answer; nil without answers.
        public var answerTimes: AnswerMilliseconds?
        /// The distribution of these times; nil without answers, and in summaries of earlier versions.
        public var answerBins: [AnswerBin]?
        /// The resources that the process used; nil for all sessions together, and in a summary that was made from the
        /// ledger alone.
        public var process: Process?
        /// The rows of the session that have the device token of another of its rows; nil if there are none, and for all
        /// sessions together.
        public var duplicateTokens: DuplicateTokens?
        /// The rows whose device token is not 32 bytes long, the length that all tokens have today; nil like
        /// ``duplicateTokens``.
        public var unusualTokens: UnusualTokens?

        enum CodingKeys: String, CodingKey {
            case rows, accepted, requests, retries, process
            case elapsedSeconds = "elapsed_seconds"
            case acceptedPerSecond = "accepted_per_second"
            case connectionsOpened = "connections_opened"
            case connectionsEnded = "connections_ended"
            case answerTimes = "answer_ms"
            case answerBins = "answer_bins"
            case duplicateTokens = "duplicate_tokens"
            case unusualTokens = "unusual_tokens"
        }
    }

    /// The resources that a process used.
    public struct Process: Sendable, Codable, Equatable {
        /// The processor time, user and system, in seconds.
        public var cpuSeconds: Double
        /// The part of it that was used for the ledger, in seconds.
        public var ledgerCPUSeconds: Double
        /// The largest resident set size of the process, in bytes.
        public var peakRSSBytes: UInt64
        /// The event loop: `io_uring` or `epoll`; `none` if no lane ran.
        public var loop: String

        enum CodingKeys: String, CodingKey {
            case loop
            case cpuSeconds = "cpu_seconds"
            case ledgerCPUSeconds = "ledger_cpu_seconds"
            case peakRSSBytes = "peak_rss_bytes"
        }
    }

    /// The settings that identify the campaign.
    public struct Identity: Sendable, Codable, Equatable {
        /// The UUID from which each `apns-id` is derived.
        public var id: CampaignID
        /// The version of this program.
        public var version: String
        /// Host and port.
        public var destination: String
        /// The name of the input, such as its path.
        public var input: String
        /// The size of the input in bytes, as it is stored; nil for a pipe.
        public var inputBytes: UInt64?
        /// How the input is packed, `gzip` or `zstd`; nil if it is not.
        public var inputPacking: String?
        /// True if the rows are kept in the run directory, so that the run can be resumed; otherwise nil.
        public var isInputSpooled: Bool?
        /// The CRC-32C of the bytes of the input that were read, unpacked, in hex digits; nil for a pipe, and unless the run is
        /// complete.
        public var inputCRC32C: String?
        /// `sha256-` followed by the SHA-256 of the template in base64; nil without a template or with several. Hex digits
        /// would look like a device token.
        public var templateDigest: String?
        /// The start of the first session, in UTC, such as `2026-11-21T03:00:00Z`.
        public var began: String
        /// The end of the last session, in the same form.
        public var ended: String

        /// Whether a run that did not end as complete can be resumed.
        public var isResumable: Bool { inputBytes != nil || isInputSpooled == true }

        enum CodingKeys: String, CodingKey {
            case id, version, destination, input, began, ended
            case inputBytes = "input_bytes"
            case inputPacking = "input_packing"
            case isInputSpooled = "input_spooled"
            case inputCRC32C = "input_crc32c"
            case templateDigest = "template_digest"
        }
    }

    /// How a run ended.
    @nonexhaustive
    public enum Ending: String, Sendable, Codable {
        /// The whole input was read, and every row has a line.
        case complete
        /// The run was stopped. Rows without a line have no final answer; a resumed run sends them.
        case interrupted
        /// The run ended because of a failure, such as a fatal answer, an unreachable APNs, an unreadable input or a full
        /// disk. Rows without a line have no final answer; a resumed run sends them.
        case failed
    }

    /// Whether the run is complete and meets every expectation that could be judged, and no other run of the campaign is unfinished.
    public var isClean: Bool {
        ending == .complete && expectations.allSatisfy { $0.holds != false } && forgotten.isEmpty
    }

    /// The unfinished runs of the campaign that no process is working on.
    var forgotten: [UnfinishedRun] { (unfinished ?? []).filter { !$0.isAtWork } }

    /// The unfinished runs of the campaign that other processes were working on when this one ended.
    public var othersAtWork: [UnfinishedRun] { (unfinished ?? []).filter(\.isAtWork) }

    /// The number of requests for the rows that have a line, as given in that line: those of earlier sessions only as far as
    /// they are known.
    public var attempts: UInt64 {
        get { totals.attempts }
        set { totals.attempts = newValue }
    }

    /// The number of rows that were sent again although an earlier request may have arrived, so that they may have arrived
    /// twice.
    public var resent: UInt64 {
        get { totals.resent }
        set { totals.resent = newValue }
    }

    /// The number of rejected rows by APNs's reason.
    public var reasons: [String: UInt64] {
        get { totals[reasonsOf: .rejected] }
        set { totals[reasonsOf: .rejected] = newValue }
    }

    /// The number of unavailable rows by APNs's last reason.
    public var unavailableReasons: [String: UInt64] {
        get { totals[reasonsOf: .unavailable] }
        set { totals[reasonsOf: .unavailable] = newValue }
    }
}
