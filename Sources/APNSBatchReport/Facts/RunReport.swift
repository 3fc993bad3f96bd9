import APNSBatch

/// Everything that is reported of a run: the content of `report.json`. Text and page are made from it alone.
///
/// Names of figures end in their units; what has none is a number of rows, requests or connections.
public struct RunReport: Sendable, Codable, Equatable {
    /// The version of this form.
    public var reportVersion = 1
    /// The absolute path of the run directory.
    public var runDirectory: String
    /// The name of the campaign; nil if it has none.
    public var campaign: String?
    public var localTime: LocalTime
    /// The content of `summary.json`, with verdict and expectations.
    public var summary: CampaignSummary
    /// The number of earlier nights for medians; 0 without a history, or with too few nights in it.
    public var nights: Int
    /// Every outcome that rows have, tonight or in the median.
    public var outcomes: [OutcomeLine]
    /// The reasons of rejected and unavailable rows, the most frequent first.
    public var reasons: [ReasonLine]
    /// The figures over time; nil if the run has no timeline, or one of less than two points.
    public var course: RunCourse?
    /// The parts of a run in parts, in the order of their numbers; nil for an ordinary run.
    public var parts: [PartLine]?
    /// The settings that were given, without secrets.
    public var settings: [SettingLine]
    public var nextSteps: [NextStep]
    /// Whether the last process was killed, so that the summary was made from the ledger; nil if not. Files of tokens are then not made:
    /// `results.csv` may lack what the ledger has.
    public var isOfKilledRun: Bool?

    /// The rows with one outcome.
    public struct OutcomeLine: Sendable, Codable, Equatable {
        /// The name of the outcome, such as `accepted`, or `left` for rows without a line in `results.csv`.
        public var outcome: String
        public var rows: UInt64
        /// The share of all rows, with those that are left.
        public var sharePercent: Double
        /// Compared with earlier nights; nil without them.
        public var earlier: NightComparison?

        enum CodingKeys: String, CodingKey {
            case outcome, rows, earlier
            case sharePercent = "share_percent"
        }
    }

    /// The rows with one reason.
    public struct ReasonLine: Sendable, Codable, Equatable {
        /// The reason as the server sent it, which may be any text.
        public var reason: String
        /// The name of the outcome that rows with it have, `rejected` or `unavailable`.
        public var outcome: String
        public var rows: UInt64
        public var sharePercent: Double
        /// What APNs means by it; nil for a reason that Apple does not document.
        public var meaning: String?
        /// What to do about it; nil if there is nothing to do.
        public var remedy: String?
        public var earlier: NightComparison?

        enum CodingKeys: String, CodingKey {
            case reason, outcome, rows, meaning, remedy, earlier
            case sharePercent = "share_percent"
        }
    }

    /// A setting, as it was given.
    public struct SettingLine: Sendable, Codable, Equatable {
        /// The key in campaign files.
        public var key: String
        public var value: String

        public init(key: String, value: String) { (self.key, self.value) = (key, value) }
    }

    /// Something to do.
    public struct NextStep: Sendable, Codable, Equatable {
        /// A sentence.
        public var text: String
        /// A command for a shell; nil if there is none.
        public var command: String?
    }

    enum CodingKeys: String, CodingKey {
        case campaign, summary, nights, outcomes, reasons, course, parts, settings
        case reportVersion = "report_version"
        case isOfKilledRun = "killed"
        case runDirectory = "run_dir"
        case localTime = "local_time"
        case nextSteps = "next_steps"
    }

    /// The number of rows with an outcome, and of those that are left as far as their number is known.
    public var rowsTotal: UInt64 { summary.rows &+ (summary.left ?? 0) }

    /// When the run began and ended, in seconds since 1970-01-01 00:00 UTC.
    var began: Int64? { LocalTime.instant(summary.campaign.began) }
    var ended: Int64? { LocalTime.instant(summary.campaign.ended) }
}
