#if Configuration
    import APNSBatchModel

    extension SettingReader {
        /// The providers: those that `providers` names, or else one for all topics.
        func providers() throws(CampaignError) -> [Campaign.Provider] {
            guard let names = try texts("providers") else {
                return [Campaign.Provider(credentials: try credentials())]
            }
            var providers: [Campaign.Provider] = []
            for name in names {
                guard !name.isEmpty, name.utf8.allSatisfy(Self.isInName) else {
                    throw error("providers", "expected names of letters, digits, _ and -")
                }
                let own = scoped(to: ["provider", name])
                providers.append(.init(topics: try own.texts("topics") ?? [], credentials: try own.credentials()))
            }
            return providers
        }

        private static func isInName(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }

        private func credentials() throws(CampaignError) -> Campaign.Credentials {
            let passphrase = try secret("keyPassphrase")
            let (key, token, certificate) = (
                try secret("key"), try secret("providerToken"), try secret("certificate")
            )
            switch (key, token, certificate) {
            case (let key?, nil, nil): return try signingKey(key, passphrase)
            case (nil, let token?, nil):
                let credentials = Campaign.Credentials.issuedToken(token)
                try naming("providerToken") { () throws(CampaignError) in try credentials.check() }
                return credentials
            case (nil, nil, let certificate?):
                let keyFile = try secret("certificateKey")
                return try naming("certificate") { () throws(CampaignError) in
                    try .clientCertificate(file: certificate, keyFile: keyFile, passphrase: passphrase)
                }
            case (nil, nil, nil): throw error("key", "missing: expected key, providerToken or certificate")
            default: throw error("key", "give only one of key, providerToken and certificate")
            }
        }

        private func signingKey(_ key: [UInt8], _ passphrase: [UInt8]?) throws(CampaignError) -> Campaign.Credentials {
            guard let keyID = try text("keyId") else { throw error("keyId", "missing: key needs it") }
            guard let teamID = try text("teamId") else { throw error("teamId", "missing: key needs it") }
            return try naming("key") { () throws(CampaignError) in
                try .signingKey(file: key, passphrase: passphrase, keyID: keyID, teamID: teamID)
            }
        }

        /// Adds the key to an error.
        private func naming<T>(_ key: String, _ body: () throws(CampaignError) -> T) throws(CampaignError) -> T {
            do {
                return try body()
            } catch let failure {
                let isLocked = failure.code == .passphraseNeeded
                throw error(isLocked ? "keyPassphrase" : key, isLocked ? "missing: \(failure)" : "\(failure)")
            }
        }
    }
#endif
