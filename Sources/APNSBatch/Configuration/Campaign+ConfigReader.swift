#if Configuration
    import APNSBatchModel
    import Configuration

    extension Campaign {
        /// Creates a campaign from the settings of a program, with the trait `Configuration`. What is not listed here, such as
        /// templates, is set afterwards; keys without a value leave the default. The values are those of campaign files
        /// (docs/reference/settings.md).
        ///
        /// ## Configuration keys
        /// - Each ``Number`` of ``Number/all`` (int) and each ``Text`` of ``Text/all`` (string, or string array if it is a list), by its
        ///   name in camel case: `retryDelay`, `notAfter`, `resultColumns`. `to` is required, and `proxy` is a secret.
        /// - `key` (string, secret): the content of the signing key's file (`.p8`), with `keyId` and `teamId` (strings), or
        ///   `providerToken` (string, secret), or `certificate` (string, secret): the client certificate in PEM with its chain, with
        ///   `certificateKey` (string, secret) if its key is not there. `keyPassphrase` (string, secret) if the key is encrypted.
        /// - `providers` (string array): names of several providers, instead of these. The keys of each are below
        ///   `provider.NAME`, with `topics` (string array).
        /// - `ca` (string): ``authorities`` in PEM. `systemTrust` (bool, default true).
        /// - `proxyPassword` (string, secret).
        ///
        /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/configuration``, whose description begins with the key.
        ///   It does not have the values of secrets.
        public init(configReader: ConfigReader) throws(CampaignError) {
            let settings = SettingReader(reader: configReader)
            try settings.checkRequired()
            self.init(destination: .production, topic: nil, providers: try settings.providers())
            try settings.setValues(in: &self)
            try settings.setContents(in: &self)
            if try settings.number("canary") == nil, try settings.text("canaryMaxRejected") != nil {
                throw settings.error("canaryMaxRejected", "needs canary")
            }
        }
    }
#endif
