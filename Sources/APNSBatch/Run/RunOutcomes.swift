import APNSBatchModel
import APNSBatchRecords

/// Reads the outcomes of a run from its ledger.
enum RunOutcomes {
    /// Calls a function with each outcome that was recorded, in the order in which they were, and another one where rows that ended as unavailable
    /// lose their outcome. Nothing is called for a directory without a run.
    ///
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/results``.
    static func forEach(
        ofRunIn directory: String, _ body: (OutcomeEntry, OutcomeBatch) -> Void, onReopening reopened: () -> Void
    ) throws(CampaignError) {
        guard var outcomes = try RecordedOutcomes(ifBegunIn: directory) else { return }
        try outcomes.settle()
        let batch = OutcomeBatch()
        while let event = try outcomes.next(into: batch) {
            switch event {
            case .reopened: reopened()
            case .outcomes: unsafe batch.entries.forEach { body($0, batch) }
            }
        }
    }
}
