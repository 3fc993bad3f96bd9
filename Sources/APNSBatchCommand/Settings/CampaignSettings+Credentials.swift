import APNSBatch
import APNSBatchBasics
import Foundation

/// The credentials for each topic. They are either entries of `providers`, or the campaign's own settings of the same names,
/// which cover all topics.
extension CampaignSettings {
    /// The purpose that credentials are read for.
    enum Use {
        /// Credentials are required, and a passphrase may be asked for at the terminal.
        case sending
        /// For `render` and `check`: credentials are optional, and a passphrase is never asked for.
        case showing
        /// During a run: a passphrase is never asked for.
        case reloading
        /// For what sends and shows no notification: no file is read.
        case accounting
    }

    var topics: [String] { values["topics"]?.texts ?? [] }

    /// The files to watch.
    var files: [String] {
        Setting.credentialsOfProvider.filter(\.isPath).compactMap { values[$0.name]?.text }
    }

    /// The name in messages: that of the file of the key, provider token or certificate.
    var fileName: String {
        let path = self.keyFile ?? self.providerTokenFile ?? self.certificateFile ?? ""
        return path.split(separator: "/").last.map(String.init) ?? path
    }

    /// The first setting that gives credentials outside of `providers`, which is an error if both are given.
    var firstOfProvider: Setting? { Setting.credentialsOfProvider.first { values[$0.name] != nil } }

    /// Takes the signing key that systemd passes to a service, if these settings give no credentials. The unit passes `none` where
    /// there is no key. Its path is not among the settings that the ledger keeps, because it is valid in the service only.
    ///
    /// - Parameter directory: the directory of the credentials of the service; nil if there is none.
    private mutating func takeCredential(from directory: String?) {
        let own = ["keyFile", "providerTokenFile", "certificateFile"]
        guard let directory, own.allSatisfy({ values[$0] == nil }) else { return }
        let path = directory + "/key.p8"
        guard var bytes = try? SecretFile.bytes(of: path) else { return }
        defer { bytes.wipe() }
        if !bytes.starts(with: Array("none".utf8)) { self.keyFile = path }
    }

    /// Returns all providers, or without a list the one that covers all topics.
    func providerList() throws -> [CampaignSettings] {
        guard let providers = values["providers"]?.list else {
            let names = Set(Setting.credentialsOfProvider.map(\.name))
            var own = CampaignSettings(values.filter { names.contains($0.key) })
            own.takeCredential(from: ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"])
            return [own]
        }
        if let own = firstOfProvider {
            throw UsageError("\(SettingName.flag(own.name)): cannot be given together with providers")
        }
        return providers.map { CampaignSettings($0.members ?? [:]) }
    }

    /// Reads the files of the providers that `providerList` has returned.
    func read(_ list: [CampaignSettings], for use: Use) throws -> [Campaign.Provider] {
        try list.enumerated().map { number, settings in
            do {
                return Campaign.Provider(topics: settings.topics, credentials: try settings.credentials(for: use))
            } catch let error as UsageError where values["providers"] != nil {
                throw UsageError("providers[\(number)]: \(Self.asKeys(error.description))", cause: error)
            } catch let error as CampaignError where list.count > 1 {
                throw UsageError("provider \(number + 1): \(error)", cause: error)
            }
        }
    }

    /// Replaces flags in a message by keys of the file.
    private static func asKeys(_ message: String) -> String {
        Setting.credentialsOfProvider.reduce(message) { $0.replacing(SettingName.flag($1.name), with: $1.key) }
    }

    /// Returns the provider that names the app's topic, or else the one that covers all topics.
    func provider(of app: String) throws -> CampaignSettings {
        let list = try providerList()
        guard let found = list.first(where: { $0.topics.contains(app) }) ?? list.first(where: { $0.topics.isEmpty })
        else {
            throw UsageError("no provider covers \(app.quoted)")
        }
        return found
    }

    func credentials(for use: Use) throws -> Campaign.Credentials {
        if use == .accounting { return .none }
        if use == .showing {
            if self.certificateFile == nil && self.keyFile == nil && self.providerTokenFile == nil { return .none }
            // A machine that only renders or checks need not have the keys.
            if let missing = files.first(where: { access($0, F_OK) != 0 }) {
                complain("warning: \(missing): no such file; credentials are not checked")
                return .none
            }
        }
        let kinds = ["keyFile", "providerTokenFile", "certificateFile"].filter { values[$0] != nil }
        if kinds.count > 1 {
            throw UsageError(
                "there are \(kinds.map(SettingName.flag).joined(separator: " and ")); give only one of them")
        }
        if use != .reloading { warn() }
        do {
            return try read(asking: use == .sending)
        } catch let error as CampaignError where error.code == .passphraseNeeded && use == .showing {
            return .none
        }
    }

    /// Warns about files that others can access, and about ids without ten characters, which APNs answers with 403.
    private func warn() {
        // Without a key file, the certificate's file holds the key.
        let secrets = [
            self.keyFile, self.providerTokenFile, self.certificateKeyFile ?? self.certificateFile,
            self.keyPassphraseFile,
        ]
        for file in secrets.compactMap(\.self) { SecretFile.exposure(of: file).map { complain("warning: \($0)") } }
        guard self.keyFile != nil else { return }
        for (name, text) in [("key id", self.keyId), ("team id", self.teamId)] {
            guard let text, !AppleIdentifier.isWellFormed(text) else { continue }
            complain("warning: \(name): expected 10 capital letters and digits, found \(text.quoted)")
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
        if let tokenFile = self.providerTokenFile { return try Self.issuedToken(tokenFile) }
        guard let keyFile = self.keyFile else {
            throw UsageError(
                "no credentials: give --key-file with --key-id and --team-id, --provider-token-file or --certificate-file"
            )
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

    private static func issuedToken(_ path: String) throws -> Campaign.Credentials {
        let credentials = Campaign.Credentials.issuedToken(try SecretFile.bytes(of: path))
        do {
            try credentials.check()
        } catch {
            throw UsageError("\(path): \(error)", cause: error)
        }
        return credentials
    }

    /// Adds the name of the file to an error.
    private func naming<T>(_ file: String, _ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch let error as CampaignError where error.code != .passphraseNeeded {
            throw UsageError("\(file): \(error)", cause: error)
        }
    }
}
