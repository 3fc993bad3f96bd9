import APNSBatch
import Foundation

/// One entry of `providers`: whose key or certificate is for which topics. The settings of the same names beside
/// `providers` are an entry for all topics.
struct ProviderSettings: Codable, Equatable {
    var topics: [String]?
    var keyFile: String?
    var keyId: String?
    var teamId: String?
    var certificateFile: String?
    var certificateKeyFile: String?
    var keyPassphraseFile: String?
    var keyPassphraseEnv: String?

    /// The names of all of them, as in a campaign file.
    static let keys = SettingName.keys(of: ProviderSettings())

    /// The values that are paths: in a campaign file they are relative to that file.
    static var paths: [WritableKeyPath<ProviderSettings, String?>] {
        [\.keyFile, \.certificateFile, \.certificateKeyFile, \.keyPassphraseFile]
    }

    /// The files to watch.
    var files: [String] { Self.paths.compactMap { self[keyPath: $0] } }

    /// The first of them that is given, as a flag.
    var firstFlag: String? {
        guard case .members(let given)? = try? JSONValue(of: self) else { return nil }
        return Self.keys.first { given[SettingName.property($0)] != nil }.map(SettingName.flag)
    }

    /// Those that hold a secret. A certificate's file holds its key too when there is no other.
    var secretFiles: [String] {
        [keyFile, certificateKeyFile ?? certificateFile, keyPassphraseFile].compactMap(\.self)
    }

    /// Says which of them others may read.
    func warnOfExposure() {
        for file in secretFiles { SecretFile.exposure(of: file).map { complain("warning: \($0)") } }
    }

    /// Apple's ids have ten characters; APNs answers others with 403.
    private func warnOfIdentifiers() {
        guard keyFile != nil else { return }
        for (name, text) in [("key id", keyId), ("team id", teamId)] {
            guard let text, text.range(of: "^[A-Z0-9]{10}$", options: .regularExpression) == nil else { continue }
            complain("warning: \(name): expected 10 capital letters and digits, found \"\(text)\"")
        }
    }

    /// A message about flags as one about keys of the file.
    static func asKeys(_ message: String) -> String {
        CampaignSettings.keysOfOneProvider.reduce(message) {
            $0.replacing(SettingName.flag($1), with: $1)
        }
    }

    /// What messages call it: the file whose change matters most.
    var fileName: String {
        let path = keyFile ?? certificateFile ?? ""
        return path.split(separator: "/").last.map(String.init) ?? path
    }

    /// What credentials are read for.
    enum Use {
        /// There must be some; the terminal may be asked for a passphrase.
        case sending
        /// `render` and `check`: none where there are none, or where a passphrase would have to be asked for.
        case showing
        /// In the middle of a run: nobody is asked.
        case reloading
    }

    /// Reads the files.
    func credentials(for use: Use) throws -> Campaign.Credentials {
        if use == .showing {
            if certificateFile == nil && keyFile == nil { return .none }
            // A machine that rehearses need not have the keys.
            if let missing = files.first(where: { access($0, F_OK) != 0 }) {
                complain("warning: \(missing): no such file; credentials are not looked at")
                return .none
            }
        }
        if certificateFile != nil, keyFile != nil {
            throw UsageError("there are --key-file and --certificate-file; give one of them")
        }
        if use != .reloading {
            warnOfExposure()
            warnOfIdentifiers()
        }
        do {
            return try read(Passphrase(file: keyPassphraseFile, variable: keyPassphraseEnv, asks: use == .sending))
        } catch let error as CampaignError where error.kind == .passphraseNeeded && use == .showing {
            return .none
        }
    }

    private func read(_ passphrase: Passphrase) throws -> Campaign.Credentials {
        if let certificateFile {
            var file = try SecretFile.bytes(of: certificateFile)
            defer { file.wipe() }
            var key = try certificateKeyFile.map { try SecretFile.bytes(of: $0) }
            defer { key?.wipe() }
            return try naming(certificateFile) {
                try passphrase.opening(certificateKeyFile ?? certificateFile) {
                    try .clientCertificate(file: file, keyFile: key, passphrase: $0)
                }
            }
        }
        guard let keyFile else {
            throw UsageError("no credentials: give --key-file with --key-id and --team-id, or --certificate-file")
        }
        guard let keyId, let teamId else { throw UsageError("--key-file needs --key-id and --team-id") }
        var file = try SecretFile.bytes(of: keyFile)
        defer { file.wipe() }
        return try naming(keyFile) {
            try passphrase.opening(keyFile) {
                try .signingKey(file: file, passphrase: $0, keyID: keyId, teamID: teamId)
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

extension CampaignSettings {
    /// Key and certificate given beside `providers`.
    private var own: ProviderSettings {
        (try? JSONValue(of: self).decoded(as: ProviderSettings.self)) ?? ProviderSettings()
    }

    /// All providers; without a list the one for all topics.
    func providerList() throws -> [ProviderSettings] {
        guard let providers else { return [own] }
        if let flag = own.firstFlag { throw UsageError("\(flag): not together with providers") }
        return providers
    }

    /// Reads the files of what `providerList` gave.
    func read(_ list: [ProviderSettings], for use: ProviderSettings.Use) throws -> [Campaign.Provider] {
        try list.enumerated().map { number, settings in
            do {
                return Campaign.Provider(
                    topics: settings.topics ?? [], credentials: try settings.credentials(for: use))
            } catch let error as UsageError where providers != nil {
                throw UsageError("providers[\(number)]: \(ProviderSettings.asKeys(error.description))")
            } catch let error as CampaignError where list.count > 1 {
                throw UsageError("provider \(number + 1): \(error)")
            }
        }
    }

    /// The one whose topics an app's are: one that names it, else one for all topics.
    func provider(of app: String) throws -> ProviderSettings {
        let list = try providerList()
        let named = list.first { $0.topics?.contains(app) == true }
        guard let found = named ?? list.first(where: { $0.topics?.isEmpty ?? true }) else {
            throw UsageError("no provider sends for \"\(app)\"")
        }
        return found
    }
}
