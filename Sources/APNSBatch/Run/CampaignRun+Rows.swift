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
    /// A run that ended early, or whose process was killed, is resumed by a program that makes the same run again. Rows that earlier
    /// sessions took come from the run directory. `rows` is called, too, unless the input was read to its end: it makes
    /// all rows again; those that were taken are compared and not sent twice, or only those after them
    /// (``RowWriter/skipTakenRows()``).
    ///
    /// - Parameters:
    ///   - campaign: The settings.
    ///   - columns: The names of the columns, as in the header row of a file.
    ///   - spool: Where rows are kept, so that the run can be resumed.
    ///   - resuming: Whether to continue the run in ``Campaign/runDirectory``.
    ///   - logger: Receives messages about connections, retries and failures. Tokens are shortened in them, and secrets never
    ///     appear.
    ///   - rows: Writes the rows. ``send()`` calls it once, in a child task, and returns after it: it must return when that task is
    ///     cancelled. When it returns, the input has ended. When it throws an error,
    ///     the run fails with an error with the code `input`: rows that were written and not taken yet are not sent.
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/configuration``, `input` or `results`.
    public convenience init(
        _ campaign: Campaign, columns: [String], spool: Spool = .runDirectory, resuming: Resuming = .never,
        logger: Logger = .current,
        rows: @escaping @Sendable (inout RowWriter) async throws -> Void
    ) throws(CampaignError) {
        try self.init(
            campaign, columns: columns, spool: spool, resuming: resuming, logger: logger, receiver: .current, rows: rows
        )
    }

    /// - Parameter receiver: Who receives the metrics.
    convenience init(
        _ campaign: Campaign, columns: [String], spool: Spool, resuming: Resuming, logger: Logger,
        receiver: MetricsReceiver, rows: @escaping @Sendable (inout RowWriter) async throws -> Void
    ) throws(CampaignError) {
        guard !columns.isEmpty, !columns.contains("") else {
            throw CampaignError(.configuration, "columns: expected at least one name, and none empty, found \(columns)")
        }
        let pipe = RowPipe(columns: columns, delimiter: campaign.delimiter)
        let input =
            switch spool {
            case .none: RunInput(pipe)
            case .runDirectory: RunInput(SpooledSource(pipe))
            }
        try self.init(
            campaign, input: input, production: .init(pipe: pipe, rows: rows), resuming: try resuming.resumes(campaign),
            logger: logger, metrics: receiver)
    }

    /// Creates a run whose rows are the elements of a sequence. The run takes an element when it has room for it.
    ///
    /// When the run is resumed, the sequence has all rows from the first one: those that earlier sessions took are compared and not
    /// sent twice.
    ///
    /// - Parameters:
    ///   - campaign: The settings.
    ///   - rows: The rows. An error that it throws ends the run with an error of the code `input`.
    ///   - spool: Where rows are kept, so that the run can be resumed.
    ///   - resuming: Whether to continue the run in ``Campaign/runDirectory``.
    ///   - logger: Receives messages about connections, retries and failures. Tokens are shortened in them, and secrets never
    ///     appear.
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/configuration``, `input` or `results`.
    @inlinable
    public convenience init<Rows: AsyncSequence & Sendable>(
        _ campaign: Campaign, rows: Rows, spool: Spool = .runDirectory, resuming: Resuming = .never,
        logger: Logger = .current
    ) throws(CampaignError) where Rows.Element: CampaignRow {
        try self.init(
            campaign, columns: Rows.Element.columns, spool: spool, resuming: resuming, logger: logger
        ) { writer in
            for try await row in rows { try await writer.write(row) }
        }
    }
}
