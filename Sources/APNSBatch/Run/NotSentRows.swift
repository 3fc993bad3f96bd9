import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords

/// The rows of a complete run that were not sent because of themselves, in the order of the input, some at a time: memory does not grow with
/// their number.
struct NotSentRows {
    /// A row, and why it was not sent.
    struct Row: Equatable {
        var row: UInt64
        var outcome: Outcome
        /// One line.
        var reason: String
    }

    /// The number of rows that are held at once; twice as many while the ledger is read.
    private let most: Int
    private let directory: String
    /// The first row that was not looked for yet; nil when all were.
    private var first: UInt64? = 0

    /// - Parameter most: The number of rows of a batch.
    init(ofRunIn directory: String, most: Int = 1 << 16) { (self.directory, self.most) = (directory, most) }

    /// Returns the next rows; nil if there are none any more. The ledger is read from its beginning each time.
    ///
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/results``.
    mutating func next() throws(CampaignError) -> [Row]? {
        guard let from = first else { return nil }
        var rows: [Row] = []
        // Later rows are left to the next call.
        var last = UInt64.max
        func cut() {
            rows.sort { $0.row < $1.row }
            guard rows.count > most else { return }
            rows.removeSubrange(most...)
            last = rows[most - 1].row
        }
        try RunOutcomes.forEach(ofRunIn: directory) { entry, batch in
            guard from...last ~= entry.row, entry.outcome.canBeCorrected else { return }
            rows.append(Row(row: entry.row, outcome: entry.outcome, reason: Self.reason(entry, batch)))
            if rows.count >= 2 * most { cut() }
        } onReopening: {
            rows.removeAll { $0.outcome.canBeReopened }
        }
        cut()
        first = last == .max ? nil : last + 1
        return rows.isEmpty && first == nil ? nil : rows
    }

    private static func reason(_ entry: OutcomeEntry, _ batch: OutcomeBatch) -> String {
        let reason = unsafe Printable.text(bytes: batch.reason(of: entry))
        return reason.isEmpty ? "\(entry.outcome.name)" : "\(entry.outcome.name): \(reason)"
    }
}
