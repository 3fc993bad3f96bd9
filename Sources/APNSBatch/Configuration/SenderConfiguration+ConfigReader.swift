#if Configuration
    import APNSBatchModel
    import Configuration

    extension Sender.Configuration {
        /// Creates the configuration of a sender from the settings of a program, with the trait `Configuration`. Keys without a
        /// value leave the default. The words are those of campaign files (docs/reference/settings.md) where they mean the same.
        ///
        /// ## Configuration keys
        /// - `to`, `key`, `keyId`, `teamId`, `keyPassphrase`, `providerToken`, `certificate`, `certificateKey`, `providers`, `ca`,
        ///   `systemTrust`, `proxy`, `proxyPassword`, `ramp`, `rate`, `onUnknown`, `loop`: as for a campaign.
        /// - `name` (string): ``name``.
        /// - `lanes`, `connections`, `streams`, `attempts`, `pending` (ints).
        /// - `requestTimeout`, `timeout`, `gracePeriod` (ints, milliseconds).
        /// - `tokenMintAfter`, `tokenRetireAfter` (ints, seconds).
        ///
        /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/configuration``, whose description begins with the key.
        ///   It does not have the values of secrets.
        public init(configReader: ConfigReader) throws(CampaignError) {
            let settings = SettingReader(reader: configReader)
            self.init(destination: try settings.destination(), providers: try settings.providers())
            try setNumbers(settings)
            name = try settings.text("name") ?? name
            timeout = try settings.milliseconds("timeout") ?? timeout
            gracePeriod = try settings.milliseconds("gracePeriod") ?? gracePeriod
            rateLimit = try settings.rateLimit()
            onUnknown = try settings.onUnknown() ?? onUnknown
            proxy = try settings.proxy()
            authorities = try settings.text("ca").map { Array($0.utf8) } ?? []
            systemTrust = try settings.flag("systemTrust") ?? systemTrust
            loop = try settings.loop() ?? loop
        }

        /// Sets the numbers, whose ranges are those of a campaign.
        private mutating func setNumbers(_ settings: SettingReader) throws(CampaignError) {
            if let pending = try settings.number("pending") {
                guard 1...1_000_000 ~= pending else {
                    throw settings.error("pending", "expected 1 to 1000000, found \(pending)")
                }
                self.pending = pending
            }
            var campaign = try campaign()
            try settings.setNumbers(
                [
                    "lanes", "connections", "streams", "attempts", "requestTimeout", "tokenMintAfter",
                    "tokenRetireAfter",
                ], in: &campaign)
            (lanes, connections, streams) = (campaign.lanes ?? lanes, campaign.connections, campaign.streams)
            (attempts, requestTimeout) = (campaign.attempts, campaign.requestTimeout)
            tokenRotation = campaign.tokenRotation
        }
    }
#endif
