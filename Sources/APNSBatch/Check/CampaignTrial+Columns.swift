import APNSBatchModel
import APNSBatchSending

extension CampaignTrial {
    /// A column that a campaign reads.
    public struct ColumnUse: Sendable, Equatable {
        /// Its name, as the campaign has it.
        public let column: String
        /// What it is read for: `token`, `channel_id`, `payload`, a header field such as `priority`, `template`, `selects` (one of several
        /// templates), `key` (of an encryption), `results` or `only`. At least one.
        public let uses: [String]
    }

    /// The consequences of the names of the columns for a campaign.
    public struct Columns: Sendable, Equatable {
        /// The columns that are read. Rows may lack those of header fields.
        public let uses: [ColumnUse]
        /// Warnings, such as that nothing uses a column.
        public let findings: [CampaignFinding]
    }

    /// Tries all that does not depend on single rows, for rows that this process does not have, such as those of a data frame: their columns,
    /// the templates and the settings. No file is read.
    ///
    /// - Parameters:
    ///   - columns: The names of their columns; nil if they are not known.
    ///   - name: What errors call these rows.
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/configuration``.
    public func columns(_ columns: [String]?, of name: String = "rows") throws(CampaignError) -> Columns {
        let facts = try InputFacts.ofRows(named: name, campaign, columns: columns)
        let plan = try CampaignPlan(campaign, input: facts, logger: Self.silent)
        try plan.refuseBrokenTemplates()
        return Columns(
            uses: plan.columnUses.map { ColumnUse(column: $0.column, uses: $0.uses) },
            findings: plan.findings)
    }
}
