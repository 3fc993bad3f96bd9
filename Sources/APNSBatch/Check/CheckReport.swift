import APNSBatchModel

/// The result of a check.
public struct CheckReport: Sendable {
    /// The findings of one rule.
    public struct Group: Sendable {
        /// The rule's name; see ``CampaignFinding/rule``.
        public let rule: String
        /// The severity of all findings of the rule.
        public let severity: CampaignFinding.Severity
        /// The number of findings.
        public internal(set) var count: UInt64
        /// The first findings in the order of rows, at most ``CheckReport/exampleLimit``.
        public internal(set) var examples: [CampaignFinding]
    }

    /// The maximum number of ``Group/examples``.
    public static let exampleLimit = 20

    /// The number of rows that were read.
    public internal(set) var rows: UInt64 = 0
    /// The number of rows that would not be sent.
    public internal(set) var rowsWithErrors: UInt64 = 0
    /// The number of rows that would be sent and have warnings.
    public internal(set) var rowsWithWarnings: UInt64 = 0
    /// The number of rows that would not be sent because ``Campaign/only`` does not select them, or because they are before
    /// ``Campaign/firstRow``. They were not checked.
    public internal(set) var rowsNotSelected: UInt64 = 0
    /// The findings about the campaign and its templates, which do not depend on rows.
    public internal(set) var campaign: [CampaignFinding] = []
    /// The findings about rows, by rule: errors first, then by number.
    public internal(set) var groups: [Group] = []
    /// The rows that have the device token of another row; nil if there are none. The ``groups`` contain their findings, as
    /// far as they were detected.
    public internal(set) var duplicateTokens: DuplicateTokens?
    /// What a run of the whole input would throw because so many rows are invalid that none is sent; nil if it would begin.
    public internal(set) var refusal: CampaignError?
    /// The sizes of the payloads that were rendered.
    public internal(set) var sizes = PayloadSizes()
    /// Whether the whole input was checked; false if the check was stopped before.
    public internal(set) var isComplete = true
    /// The path of the file with all findings; nil if none was requested.
    public internal(set) var findingsPath: String?

    /// Whether the campaign itself cannot be sent, because it or a template violates a rule for every row.
    public var isBroken: Bool { campaign.contains { $0.severity == .error } }
    /// Whether all rows would be sent.
    public var isClean: Bool { !isBroken && rowsWithErrors == 0 }
}

/// The distribution of payload sizes, in bytes.
public struct PayloadSizes: Sendable, Equatable {
    /// The largest size that any push type or broadcast allows.
    static let largest = 5120

    /// The number of payloads by size; the last element counts all larger ones.
    private var counts = [UInt64](repeating: 0, count: largest + 2)
    /// The number of payloads.
    public private(set) var payloads: UInt64 = 0
    /// The size of the largest payload, even if it is too large to be sent; 0 without payloads.
    public private(set) var maximum = 0
    /// The first row with a payload of that size.
    public private(set) var maximumRow: UInt64 = 0
    /// The number of bytes of whitespace and needless escapes in the inputs that are not sent.
    public internal(set) var bytesSaved: UInt64 = 0

    init() {}

    /// Returns the size that this share of the payloads does not exceed; 0 without payloads.
    ///
    /// - Parameter share: The share from 0 to 1 of all payloads, including those too large to be sent.
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
