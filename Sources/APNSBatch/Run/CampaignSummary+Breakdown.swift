import APNSBatchModel
import APNSBatchRecords

extension CampaignSummary {
    /// The rows by the values of a column of the input, and by outcome.
    public struct Breakdown: Sendable, Codable, Equatable {
        /// The column, one of ``Campaign/resultColumns``.
        public var column: String
        /// The values that most rows have, at most 50; the most frequent one is first. A row without the field has the value `""`.
        public var values: [Group]
        /// All other rows; nil if there are none.
        public var others: Group?

        /// Rows with the same value, or all rows with other values.
        public struct Group: Sendable, Codable, Equatable {
            /// The value, at most 255 bytes of it; nil for other values.
            public var value: String?
            /// The number of rows.
            public var rows: UInt64
            /// The rows by the name of the outcome, such as `accepted`: only outcomes that rows have.
            public var outcomes: [String: UInt64]

            /// The number of rows with this outcome.
            public subscript(outcome: Outcome) -> UInt64 { outcomes["\(outcome.name)"] ?? 0 }
        }
    }
}

extension CampaignSummary.Breakdown {
    static let valuesMax = 50

    /// Counts the lines of the results of a run.
    ///
    /// - Parameter columns: Those by which they are counted; no file is read without one.
    /// - Returns: Nil without columns.
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/results``.
    package static func all(
        ofRunIn directory: String, by columns: [String]
    ) throws(CampaignError) -> [CampaignSummary.Breakdown]? {
        guard !columns.isEmpty else { return nil }
        return try ResultsBreakdown(of: "\(directory)/\(RunDirectory.results)", by: columns).columns.map { .init($0) }
    }

    init(_ counts: ValueCounts) {
        column = counts.column
        values = counts.values.map { Group(value: $0.value, $0.counts) }
        others = counts.others.sum > 0 ? Group(value: nil, counts.others) : nil
        limit(to: Self.valuesMax)
    }

    /// Counts values beyond the most frequent ones with the others.
    package mutating func limit(to most: Int) {
        guard values.count > most else { return }
        values.sort { ($1.rows, $0.value ?? "") < ($0.rows, $1.value ?? "") }
        for value in values[most...] { addToOthers(value) }
        values.removeSubrange(most...)
    }

    private mutating func addToOthers(_ group: Group) {
        var sum = others ?? Group(value: nil, rows: 0, outcomes: [:])
        sum.add(group)
        others = sum
    }

    /// Adds the rows of a part. Values that the part counts with its others are among the others of the sum.
    fileprivate mutating func add(_ part: Self) {
        for group in part.values {
            if let index = values.firstIndex(where: { $0.value == group.value }) {
                values[index].add(group)
            } else if values.count < ValueCounts.valuesMax {
                values.append(group)
            } else {
                addToOthers(group)
            }
        }
        if let rest = part.others { addToOthers(rest) }
    }
}

extension CampaignSummary.Breakdown.Group {
    fileprivate init(value: String?, _ counts: OutcomeCounts) {
        (self.value, rows, outcomes) = (value, counts.sum, [:])
        for outcome in Outcome.allCases where counts[outcome] > 0 { outcomes["\(outcome.name)"] = counts[outcome] }
    }

    fileprivate mutating func add(_ other: Self) {
        rows &+= other.rows
        outcomes.merge(other.outcomes) { $0 &+ $1 }
    }
}

extension [CampaignSummary.Breakdown] {
    /// Returns them with the rows of a part, column by column.
    func adding(_ part: [CampaignSummary.Breakdown]) -> [CampaignSummary.Breakdown] {
        var sum = self
        for breakdown in part {
            if let index = sum.firstIndex(where: { $0.column == breakdown.column }) {
                sum[index].add(breakdown)
            } else {
                sum.append(breakdown)
            }
        }
        return sum
    }
}
