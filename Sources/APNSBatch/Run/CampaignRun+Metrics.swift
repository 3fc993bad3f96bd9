#if Metrics
    import APNSBatchModel
    import APNSBatchRows
    import APNSBatchSending
    import CoreMetrics
    import Logging

    /// Runs whose metrics another factory receives than that of the current task.
    extension CampaignRun {
        /// Creates a run, or resumes one.
        ///
        /// - Parameters:
        ///   - campaign: The settings.
        ///   - input: The source of the rows.
        ///   - resuming: Whether to continue the run in ``Campaign/runDirectory``.
        ///   - logger: Receives messages about connections, retries and failures.
        ///   - metrics: Receives the metrics, each second while the run is sent. It makes its handlers at once.
        /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/configuration``, `input`, `results`, or `busy` if another
        ///   process is working on the run.
        public convenience init(
            _ campaign: Campaign, input: CampaignInput, resuming: Resuming = .never, logger: Logger = .current,
            metrics: any MetricsFactory
        ) throws(CampaignError) {
            try self.init(
                campaign, input: try RunInput(input, logger: logger), resuming: try resuming.resumes(campaign),
                files: nil,
                logger: logger,
                metrics: MetricsReceiver(metrics))
        }

        /// Creates a run whose rows a program writes, while they are sent, like
        /// ``CampaignRun/init(_:columns:spool:resuming:logger:rows:)``.
        ///
        /// - Parameters:
        ///   - campaign: The settings.
        ///   - columns: The names of the columns.
        ///   - spool: Where rows are kept, so that the run can be resumed.
        ///   - resuming: Whether to continue the run in ``Campaign/runDirectory``.
        ///   - logger: Receives messages about connections, retries and failures.
        ///   - metrics: Receives the metrics, each second while the run is sent. It makes its handlers at once.
        ///   - rows: Writes the rows.
        /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/configuration``, `input` or `results`.
        public convenience init(
            _ campaign: Campaign, columns: [String], spool: Spool = .runDirectory, resuming: Resuming = .never,
            logger: Logger = .current, metrics: any MetricsFactory,
            rows: @escaping @Sendable (inout RowWriter) async throws -> Void
        ) throws(CampaignError) {
            try self.init(
                campaign, columns: columns, spool: spool, resuming: resuming, logger: logger,
                receiver: MetricsReceiver(metrics), rows: rows)
        }

        /// Creates a run whose rows are the elements of a sequence, like ``CampaignRun/init(_:rows:spool:resuming:logger:)``.
        ///
        /// - Parameters:
        ///   - campaign: The settings.
        ///   - rows: The rows, in order.
        ///   - spool: Where rows are kept, so that the run can be resumed.
        ///   - resuming: Whether to continue the run in ``Campaign/runDirectory``.
        ///   - logger: Receives messages about connections, retries and failures.
        ///   - metrics: Receives the metrics, each second while the run is sent. It makes its handlers at once.
        /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/configuration``, `input` or `results`.
        @inlinable
        public convenience init<Rows: AsyncSequence & Sendable>(
            _ campaign: Campaign, rows: Rows, spool: Spool = .runDirectory, resuming: Resuming = .never,
            logger: Logger = .current, metrics: any MetricsFactory
        ) throws(CampaignError) where Rows.Element: CampaignRow {
            try self.init(
                campaign, columns: Rows.Element.columns, spool: spool, resuming: resuming, logger: logger,
                metrics: metrics
            ) { writer in
                for try await row in rows { try await writer.write(row) }
            }
        }
    }
#endif
