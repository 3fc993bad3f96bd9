import APNSBatchModel
import APNSBatchRows
import APNSBatchSending
import Logging

extension CampaignRun {
    /// Creates a run whose rows a program writes, while they are sent.
    ///
    /// ```swift
    /// let run = try CampaignRun(campaign, columns: ["token", "name"]) { writer in
    ///     for try await user in users {
    ///         try await writer.write { row in
    ///             row.append(user.token)
    ///             row.append(user.name)
    ///         }
    ///     }
    /// }
    /// ```
    ///
    /// The rows are not kept, so the run cannot be resumed: a run that ended early has the outcomes of those that were sent in its
    /// `results.csv`.
    ///
    /// - Parameters:
    ///   - columns: The names of the columns, as in the header row of a file.
    ///   - rows: Writes the rows. ``send()`` calls it once, in a child task. When it returns, the input has ended. When it throws an error,
    ///     the run fails with an error of kind `input`: rows that were written and not taken yet are not sent.
    /// - Throws: ``CampaignError`` of kind ``CampaignError/Kind/configuration``, `input` or `results`.
    public convenience init(
        _ campaign: Campaign, columns: [String],
        logger: Logger = Logger(label: "apns-batch") { _ in SwiftLogNoOpLogHandler() },
        rows: @escaping @Sendable (inout RowWriter) async throws -> Void
    ) throws(CampaignError) {
        guard !columns.isEmpty, !columns.contains("") else {
            throw CampaignError(.configuration, "columns: expected at least one name, and none empty, found \(columns)")
        }
        let pipe = RowPipe(columns: columns, delimiter: campaign.delimiter)
        try self.init(campaign, input: RunInput(pipe), production: .init(pipe: pipe, rows: rows), logger: logger)
    }

    /// Creates a run whose rows are the elements of a sequence. The run takes an element when it has room for it.
    ///
    /// The rows are not kept, so the run cannot be resumed.
    ///
    /// - Throws: ``CampaignError`` of kind ``CampaignError/Kind/configuration``, `input` or `results`.
    @inlinable
    public convenience init<Rows: AsyncSequence & Sendable>(
        _ campaign: Campaign, rows: Rows,
        logger: Logger = Logger(label: "apns-batch") { _ in SwiftLogNoOpLogHandler() }
    ) throws(CampaignError) where Rows.Element: CampaignRow {
        try self.init(campaign, columns: Rows.Element.columns, logger: logger) { writer in
            for try await row in rows { try await writer.write(row) }
        }
    }
}
