import APNSBatch

extension Doctor {
    /// Creates a doctor that examines the server, the credentials and the proxy of a campaign.
    ///
    /// - Parameter endpoints: The servers in place of the campaign's own.
    init(of settings: CampaignSettings, at endpoints: [Endpoint]? = nil) throws {
        self.init()
        self.endpoints = try endpoints ?? [Endpoint(of: settings.destination())]
        credentials = try settings.providerList().compactMap { try Self.credentials($0) }
        authorities = try settings.caFile.map { try InputFile.bytes(of: $0) } ?? []
        proxy = try settings.withPassword(settings.only("proxy").proxy)
        topic = settings.topic
    }

    /// Returns nil if the settings have no credentials.
    private static func credentials(_ settings: CampaignSettings) throws -> Credentials? {
        settings.keyPassphraseFile.flatMap(SecretFile.exposure).map { complain("warning: \($0)") }
        let passphrase = try settings.secret("keyPassphrase")
        if let file = settings.certificateFile {
            return .certificate(file: file, keyFile: settings.certificateKeyFile, passphrase: passphrase)
        }
        if let file = settings.providerTokenFile { return .issuedToken(file: file) }
        guard let file = settings.keyFile else { return nil }
        guard let keyID = settings.keyId, let teamID = settings.teamId else {
            throw UsageError("--key-file needs --key-id and --team-id")
        }
        return .key(file: file, keyID: keyID, teamID: teamID, passphrase: passphrase)
    }
}

extension Doctor.Endpoint {
    init(of destination: Campaign.Destination) {
        switch destination {
        case .production: self = .production
        case .sandbox: self = .sandbox
        case .host(let host, let port): self.init(.other, host: host, port: port)
        @unknown default: self = .production
        }
    }
}
