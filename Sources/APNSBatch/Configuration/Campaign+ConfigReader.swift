#if Configuration
    import APNSBatchModel
    import Configuration

    extension Campaign {
        /// Creates a campaign from the settings of a program, with the trait `Configuration`. What is not listed here, such as
        /// templates, is set afterwards; keys without a value leave the default. The words are those of campaign files
        /// (docs/reference/settings.md).
        ///
        /// ## Configuration keys
        /// - `to` (string, required): `production`, `sandbox` or `HOST:PORT`.
        /// - `topic` (string): ``Headers/topic``.
        /// - `pushType` (string, default `alert`), `priority` (int), `expiration` (string: `0`, `2h` or a time), `collapseId`
        ///   (string): the other ``Headers``.
        /// - `campaignId` (string, a UUID), `name` (string), `runDir` (string), `stateDir` (string), `resultColumns` and `reportBy`
        ///   (string arrays), `delimiter` (string, one byte or `tab`), `escape`,
        ///   `format` (`auto`, `csv` or `ndjson`).
        /// - `key` (string, secret): the content of the signing key's file (`.p8`), with `keyId` and `teamId` (strings), or
        ///   `providerToken` (string, secret), or `certificate` (string, secret): the client certificate in PEM with its chain, with
        ///   `certificateKey` (string, secret) if its key is not there. `keyPassphrase` (string, secret) if the key is encrypted.
        /// - `providers` (string array): names of several providers, instead of these. The keys of each are below
        ///   `provider.NAME`, with `topics` (string array).
        /// - `ca` (string): ``authorities`` in PEM. `systemTrust` (bool, default true).
        /// - `proxy` (string): `http://HOST:PORT` or `http://USER@HOST:PORT`. `proxyPassword` (string, secret).
        /// - `lanes`, `connections`, `streams`, `attempts`, `minRows`, `zstdWindow`, `retryRows`, `stopWindow`, `stopMinimum` (ints).
        /// - `retryDelay`, `unavailableDelay`, `requestTimeout`, `answerGathering`, `syncInterval` (ints, milliseconds).
        /// - `retryAfterMax`, `connectPatience`, `answerPatience`, `unavailablePatience`, `goawayPatience`, `pingAfter`,
        ///   `pingPatience`, `tokenMintAfter`, `tokenRetireAfter` (ints, seconds).
        /// - `rate` (string, such as `2000/s`), `ramp` and `spread` (strings, such as `10m`), `rateShared` (string, a path).
        /// - `notAfter` (string, a time or a duration such as `6h`), `requireFresh` (string, such as `20h`), `expect` (string
        ///   array).
        /// - `onUnknown` (string): `resend`, `report` or `resend-if-collapsible`. `loop` (string): `automatic`, `io_uring` or
        ///   `epoll`.
        ///
        /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/configuration``, whose description begins with the key.
        ///   It does not have the values of secrets.
        public init(configReader: ConfigReader) throws(CampaignError) {
            let settings = SettingReader(reader: configReader)
            self.init(
                destination: try settings.destination(), topic: try settings.text("topic"),
                providers: try settings.providers())
            try settings.setNumbers(in: &self)
            try setHeaders(settings)
            try setRun(settings)
            try setConnections(settings)
        }

        private mutating func setHeaders(_ settings: SettingReader) throws(CampaignError) {
            if let name = try settings.text("pushType") { headers.pushType = PushType(name) }
            if let number = try settings.number("priority") { headers.priority = Priority(number) }
            headers.expiration = try settings.parsed(
                "expiration", "seconds since 1970, a time such as 2026-01-01T08:00:00Z, a duration such as 2h, or 0",
                Expiration.init)
            headers.collapseID = try settings.text("collapseId")
            id = try settings.parsed("campaignId", "a UUID") { CampaignID($0) }
        }

        private mutating func setRun(_ settings: SettingReader) throws(CampaignError) {
            if let name = try settings.text("name") { self.name = name }
            (runDirectory, stateDirectory) = (try settings.text("runDir"), try settings.text("stateDir"))
            resultColumns = try settings.texts("resultColumns") ?? []
            reportBy = try settings.texts("reportBy") ?? []
            delimiter =
                try settings.parsed("delimiter", "one byte or \"tab\"") {
                    $0 == "tab" ? UInt8(ascii: "\t") : $0.utf8.count == 1 ? $0.utf8.first : nil
                } ?? delimiter
            escape = try settings.parsed("escape", "auto, none or backslash", Escape.init) ?? escape
            inputFormat = try settings.parsed("format", "auto, csv or ndjson", InputFormat.init) ?? inputFormat
            notAfter = try settings.parsed(
                "notAfter", "a time such as 2026-01-01T08:00:00Z, or a duration such as 6h"
            ) { text in
                Expiration(text).flatMap { $0 == .at(0) ? nil : $0 }
            }
            inputAgeLimit = try settings.duration("requireFresh")
            var expectations: [CampaignExpectation] = []
            for text in try settings.texts("expect") ?? [] {
                do {
                    expectations.append(try CampaignExpectation(text))
                } catch {
                    throw settings.error("expect", "\(error)")
                }
            }
            self.expectations = expectations
        }

        private mutating func setConnections(_ settings: SettingReader) throws(CampaignError) {
            proxy = try settings.proxy()
            authorities = try settings.text("ca").map { Array($0.utf8) } ?? []
            systemTrust = try settings.flag("systemTrust") ?? systemTrust
            rateLimit = try settings.rateLimit()
            rateLimit.spread = try settings.duration("spread")
            sharedRatePath = try settings.text("rateShared")
            onUnknown = try settings.onUnknown() ?? onUnknown
            loop = try settings.loop() ?? loop
        }
    }
#endif
