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
            try settings.checkRequired()
            self.init(destination: .production, providers: try settings.providers())
            name = try settings.text("name") ?? name
            timeout = try settings.milliseconds("timeout") ?? timeout
            gracePeriod = try settings.milliseconds("gracePeriod") ?? gracePeriod
            if let pending = try settings.number("pending") {
                guard 1...1_000_000 ~= pending else {
                    throw settings.error("pending", "expected 1 to 1000000, found \(pending)")
                }
                self.pending = pending
            }
            var campaign = try campaign()
            try settings.setValues(Self.ofCampaigns, in: &campaign)
            try settings.setContents(in: &campaign)
            take(campaign)
        }

        /// The keys that a campaign has, too, with the same values.
        private static let ofCampaigns: Set = [
            "to", "lanes", "connections", "streams", "attempts", "requestTimeout", "tokenMintAfter", "tokenRetireAfter",
            "rate", "ramp", "onUnknown", "loop", "proxy",
        ]

        /// Takes the settings that a campaign has, too.
        private mutating func take(_ campaign: Campaign) {
            (destination, rateLimit, onUnknown) = (campaign.destination, campaign.rateLimit, campaign.onUnknown)
            (lanes, connections, streams) = (campaign.lanes ?? lanes, campaign.connections, campaign.streams)
            (attempts, requestTimeout) = (campaign.attempts, campaign.requestTimeout)
            (tokenRotation, loop, proxy) = (campaign.tokenRotation, campaign.loop, campaign.proxy)
            (authorities, systemTrust) = (campaign.authorities, campaign.systemTrust)
        }
    }
#endif
