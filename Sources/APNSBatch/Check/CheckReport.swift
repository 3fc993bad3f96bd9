import APNSBatchModel

/// What a check found.
public struct CheckReport: Sendable {
    /// The findings of one rule.
    public struct Group: Sendable {
        public let rule: String
        public let severity: CampaignFinding.Severity
        /// How many there are.
        public internal(set) var count: UInt64
        /// The first of them, at most ``CheckReport/exampleLimit``, in the order of rows.
        public internal(set) var examples: [CampaignFinding]
    }

    public static let exampleLimit = 20

    /// Rows looked at.
    public internal(set) var rows: UInt64 = 0
    /// Rows that would not be sent.
    public internal(set) var rowsWithErrors: UInt64 = 0
    /// Rows that would be sent and have warnings.
    public internal(set) var rowsWithWarnings: UInt64 = 0
    /// About the campaign and its templates, whatever the rows say.
    public internal(set) var campaign: [CampaignFinding] = []
    /// About rows, by rule: errors first, then by count.
    public internal(set) var groups: [Group] = []
    /// Rows that have the device token of another row; their findings are among the ``groups``, as far as they were seen.
    /// Nil when there are none.
    public internal(set) var duplicateTokens: DuplicateTokens?
    /// Sizes of the payloads that were written.
    public internal(set) var sizes = PayloadSizes()
    /// False when the check was stopped before the end of the input.
    public internal(set) var isComplete = true
    /// The file with all findings; nil when none was asked for.
    public internal(set) var findingsPath: String?

    /// Whether the campaign itself cannot be sent: a template breaks a rule for every row.
    public var isBroken: Bool { campaign.contains { $0.severity == .error } }
    /// Whether everything would be sent.
    public var isClean: Bool { !isBroken && rowsWithErrors == 0 }
}

/// Sizes of payloads, in bytes.
public struct PayloadSizes: Sendable, Equatable {
    /// The size that each push type or broadcast allows at most.
    static let largest = 5120

    /// By size; the last is of all that are larger.
    private var counts = [UInt64](repeating: 0, count: largest + 2)
    public private(set) var payloads: UInt64 = 0
    /// Of the largest payload, also of one too large to be sent; 0 without any.
    public private(set) var maximum = 0
    /// The first row that has it.
    public private(set) var maximumRow: UInt64 = 0
    /// Whitespace and needless escapes that the inputs hold and that are not sent.
    public internal(set) var bytesSaved: UInt64 = 0

    init() {}

    /// The size that this share of the payloads does not exceed; 0 without payloads.
    ///
    /// - Parameter share: 0 to 1, of all payloads, those too large to be sent among them.
    public func percentile(_ share: Double) -> Int {
        let wanted = (share * Double(payloads)).rounded(.up)
        var seen: UInt64 = 0
        for (size, count) in counts.enumerated() {
            seen += count
            if seen > 0, Double(seen) >= wanted { return size > Self.largest ? maximum : size }
        }
        return 0
    }

    mutating func add(_ size: Int, row: UInt64) {
        payloads += 1
        counts[min(size, Self.largest + 1)] += 1
        note(size, row: row)
    }

    private mutating func note(_ size: Int, row: UInt64) {
        guard size > maximum || (size == maximum && row < maximumRow) else { return }
        maximum = size
        maximumRow = row
    }

    static func + (left: PayloadSizes, right: PayloadSizes) -> PayloadSizes {
        var sum = left
        for (size, count) in right.counts.enumerated() { sum.counts[size] += count }
        sum.payloads += right.payloads
        sum.bytesSaved += right.bytesSaved
        if right.maximum > 0 { sum.note(right.maximum, row: right.maximumRow) }
        return sum
    }
}
