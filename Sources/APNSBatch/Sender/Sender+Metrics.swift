#if Metrics
    import APNSBatchModel
    import APNSBatchSending
    import CoreMetrics
    import Logging

    extension Sender {
        /// Creates a sender whose metrics another factory receives than that of the current task.
        ///
        /// - Parameters:
        ///   - configuration: The settings. Credentials are read and checked now.
        ///   - logger: Receives messages about connections, retries and failures.
        ///   - metrics: Receives the metrics, each second while the sender works. It makes its handlers at once.
        /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/configuration``.
        public convenience init(
            _ configuration: Configuration, logger: Logger = .current, metrics: any MetricsFactory
        ) throws(CampaignError) {
            try self.init(
                configuration, logger: logger, metrics: MetricsReceiver(metrics), surroundings: .system)
        }
    }
#endif
