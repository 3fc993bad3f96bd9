import APNSBatch
import Foundation

/// Whose key or certificate is for which topics: an entry of `providers`, or the campaign's own settings of the same names,
/// which are an entry for all topics.
extension CampaignSettings {
    /// What credentials are read for.
    enum Use {
        /// There must be some; the terminal may be asked for a passphrase.
        case sending
        /// `render` and `check`: none where there are none, or where a passphrase would have to be asked for.
        case showing
        /// In the middle of a run: nobody is asked.
        case reloading
    }

    var topics: [String] { values["topics"]?.texts ?? [] }

    /// The files to watch.
    var files: [String] {
        [self.keyFile, self.certificateFile, self.certificateKeyFile, self.keyPassphraseFile].compactMap(\.self)
    }

    /// What messages call it: the file whose change matters most.
    var fileName: String {
        let path = self.keyFile ?? self.certificateFile ?? ""
        return path.split(separator: "/").last.map(String.init) ?? path
    }

    /// The first setting of these that says whose key it is. Beside `providers` that would be said twice.
    var firstOfProvider: Setting? { Setting.credentialsOfProvider.first { values[$0.name] != nil } }

    /// All providers; without a list the one for all topics.
    func providerList() throws -> [CampaignSettings] {
        guard let providers = values["providers"]?.list else {
            let own = Set(Setting.credentialsOfProvider.map(\.name))
            return [CampaignSettings(values.filter { own.contains($0.key) })]
        }
        if let own = firstOfProvider { throw UsageError("\(SettingName.flag(own.name)): not together with providers") }
        return providers.map { CampaignSettings($0.members ?? [:]) }
    }

    /// Reads the files of what `providerList` gave.
    func read(_ list: [CampaignSettings], for use: Use) throws -> [Campaign.Provider] {
        try list.enumerated().map { number, settings in
            do {
                return Campaign.Provider(topics: settings.topics, credentials: try settings.credentials(for: use))
            } catch let error as UsageError where values["providers"] != nil {
                throw UsageError("providers[\(number)]: \(Self.asKeys(error.description))")
            } catch let error as CampaignError where list.count > 1 {
                throw UsageError("provider \(number + 1): \(error)")
            }
        }
    }

    /// A message about flags as one about keys of the file.
    private static func asKeys(_ message: String) -> String {
        Setting.credentialsOfProvider.reduce(message) { $0.replacing(SettingName.flag($1.name), with: $1.key) }
    }

    /// The one whose topics an app's are: one that names it, else one for all topics.
    func provider(of app: String) throws -> CampaignSettings {
        let list = try providerList()
        guard let found = list.first(where: { $0.topics.contains(app) }) ?? list.first(where: { $0.topics.isEmpty })
        else {
            throw UsageError("no provider sends for \"\(app)\"")
        }
        return found
    }

    /// Reads the files.
    func credentials(for use: Use) throws -> Campaign.Credentials {
        if use == .showing {
            if self.certificateFile == nil && self.keyFile == nil { return .none }
            // A machine that rehearses need not have the keys.
            if let missing = files.first(where: { access($0, F_OK) != 0 }) {
                complain("warning: \(missing): no such file; credentials are not looked at")
                return .none
            }
        }
        if self.certificateFile != nil, self.keyFile != nil {
            throw UsageError("there are --key-file and --certificate-file; give one of them")
        }
        if use != .reloading { warn() }
        do {
            return try read(asking: use == .sending)
        } catch let error as CampaignError where error.kind == .passphraseNeeded && use == .showing {
            return .none
        }
    }

    /// Says which files others may read, and which ids are none: Apple's have ten characters, and APNs answers others with 403.
    private func warn() {
        // A certificate's file holds its key too when there is no other.
        let secrets = [self.keyFile, self.certificateKeyFile ?? self.certificateFile, self.keyPassphraseFile]
        for file in secrets.compactMap(\.self) { SecretFile.exposure(of: file).map { complain("warning: \($0)") } }
        guard self.keyFile != nil else { return }
        for (name, text) in [("key id", self.keyId), ("team id", self.teamId)] {
            guard let text, text.range(of: "^[A-Z0-9]{10}$", options: .regularExpression) == nil else { continue }
            complain("warning: \(name): expected 10 capital letters and digits, found \"\(text)\"")
        }
    }

    private func read(asking asks: Bool) throws -> Campaign.Credentials {
        if let certificateFile = self.certificateFile {
            let keyFile = self.certificateKeyFile
            var file = try SecretFile.bytes(of: certificateFile)
            defer { file.wipe() }
            var key = try keyFile.map { try SecretFile.bytes(of: $0) }
            defer { key?.wipe() }
            return try naming(certificateFile) {
                try withPassphrase(of: keyFile ?? certificateFile, asks: asks) {
                    try .clientCertificate(file: file, keyFile: key, passphrase: $0)
                }
            }
        }
        guard let keyFile = self.keyFile else {
            throw UsageError("no credentials: give --key-file with --key-id and --team-id, or --certificate-file")
        }
        guard let keyID = self.keyId, let teamID = self.teamId else {
            throw UsageError("--key-file needs --key-id and --team-id")
        }
        var file = try SecretFile.bytes(of: keyFile)
        defer { file.wipe() }
        return try naming(keyFile) {
            try withPassphrase(of: keyFile, asks: asks) {
                try .signingKey(file: file, passphrase: $0, keyID: keyID, teamID: teamID)
            }
        }
    }

    /// What is wrong with a file says which file it is.
    private func naming<T>(_ file: String, _ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch let error as CampaignError where error.kind != .passphraseNeeded {
            throw UsageError("\(file): \(error)")
        }
    }
}
