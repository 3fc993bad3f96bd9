import APNSBatch

/// One entry of `providers`: whose key or certificate is for which topics. The settings of the same names beside
/// `providers` are an entry for all topics.
struct ProviderSettings: Codable, Equatable {
    var topics: [String]?
    var keyFile: String?
    var keyId: String?
    var teamId: String?
    var certificateFile: String?
    var certificateKeyFile: String?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case topics
        case keyFile = "key_file"
        case keyId = "key_id"
        case teamId = "team_id"
        case certificateFile = "certificate_file"
        case certificateKeyFile = "certificate_key_file"
    }

    /// The values that are paths: in a campaign file they are relative to that file.
    static var paths: [WritableKeyPath<ProviderSettings, String?>] {
        [\.keyFile, \.certificateFile, \.certificateKeyFile]
    }

    /// The files to watch.
    var files: [String] { Self.paths.compactMap { self[keyPath: $0] } }

    /// The first of them that is given, as a flag.
    var firstFlag: String? {
        let flags: [(String?, String)] = [
            (keyFile, "--key-file"), (keyId, "--key-id"), (teamId, "--team-id"),
            (certificateFile, "--certificate-file"), (certificateKeyFile, "--certificate-key-file"),
        ]
        return flags.first { $0.0 != nil }?.1
    }

    /// A message about flags as one about keys of the file.
    static func asKeys(_ message: String) -> String {
        CampaignSettings.keysOfOneProvider.reduce(message) {
            $0.replacing("--" + $1.replacing("_", with: "-"), with: $1)
        }
    }

    /// What messages call it: the file whose change matters most.
    var fileName: String {
        let path = keyFile ?? certificateFile ?? ""
        return path.split(separator: "/").last.map(String.init) ?? path
    }

    /// Reads the files.
    ///
    /// - Parameter optional: without any of them there are no credentials, which is no error.
    func credentials(optional: Bool) throws -> Campaign.Credentials {
        if let certificateFile {
            let chain = try CampaignFile.bytes(of: certificateFile)
            let key = try certificateKeyFile.map { try CampaignFile.bytes(of: $0) } ?? chain
            return .certificate(chainPEM: chain, keyPEM: key)
        }
        guard let keyFile else {
            if optional { return .none }
            throw UsageError("no credentials: give --key-file with --key-id and --team-id, or --certificate-file")
        }
        guard let keyId, let teamId else { throw UsageError("--key-file needs --key-id and --team-id") }
        return .providerToken(keyPEM: try CampaignFile.bytes(of: keyFile), keyID: keyId, teamID: teamId)
    }
}

extension CampaignSettings {
    /// Key and certificate given beside `providers`.
    private var own: ProviderSettings {
        ProviderSettings(
            keyFile: keyFile, keyId: keyId, teamId: teamId, certificateFile: certificateFile,
            certificateKeyFile: certificateKeyFile)
    }

    /// All providers; without a list the one for all topics.
    func providerList() throws -> [ProviderSettings] {
        guard let providers else { return [own] }
        if let flag = own.firstFlag { throw UsageError("\(flag): not together with providers") }
        return providers
    }

    /// Reads the files of what `providerList` gave.
    func read(_ list: [ProviderSettings], optional: Bool = false) throws -> [Campaign.Provider] {
        try list.enumerated().map { number, settings in
            do {
                return Campaign.Provider(
                    topics: settings.topics ?? [], credentials: try settings.credentials(optional: optional))
            } catch let error as UsageError where providers != nil {
                throw UsageError("providers[\(number)]: \(ProviderSettings.asKeys(error.description))")
            }
        }
    }
}
