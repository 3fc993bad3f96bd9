/// What file and flags say about a campaign, each value as it was written and nil where nothing was.
///
/// The names of these properties are the keys of a campaign file (`key_file`) and the flags (`--key-file`), each in its own
/// spelling; flags are declared with their help in ``CampaignFlags``.
struct CampaignSettings: Codable, Equatable {
    var input: String?
    var to: String?
    var topic: String?
    var keyFile: String?
    var keyId: String?
    var teamId: String?
    var certificateFile: String?
    var certificateKeyFile: String?
    var providers: [ProviderSettings]?
    var caFile: String?
    var template: String?
    /// By language tag; in a campaign file only.
    var templates: [String: String]?
    /// By name; in a campaign file only.
    var variants: [String: String]?
    /// The template of rows that find none.
    var fallback: String?
    /// Strings files and `.lproj` folders.
    var strings: [String]?
    var pushType: String?
    var priority: Int?
    var expiration: String?
    var collapseId: String?
    var minRows: UInt64?
    var delimiter: String?
    var campaignId: String?
    var lanes: Int?
    var connections: Int?
    var streams: Int?
    var loop: String?
    var attempts: Int?
    var requestTimeout: UInt32?
    var connectPatience: Int?
    var notAfter: String?
    var answerPatience: Int?
    var unavailablePatience: Int?
    var goawayPatience: Int?
    var pingAfter: Int?
    var pingPatience: Int?
    var retryDelay: UInt64?
    var unavailableDelay: UInt64?
    var retryAfterMax: UInt64?
    var retryRows: Int?
    /// By reason.
    var stopAt: [String: String]?
    var stopWindow: Int?
    var stopMinimum: Int?
    var canary: Int?
    var canaryMaxRejected: String?
    var tokenMintAfter: Int?
    var tokenRetireAfter: Int?
    var proxy: String?
    var proxyPasswordFile: String?
    var proxyPasswordEnv: String?
    var runDir: String?
    var resultColumns: [String]?
    var simulatorScript: String?
    var onUnknown: String?
    var syncInterval: Int?
    var keyPassphraseFile: String?
    var keyPassphraseEnv: String?
    /// In a campaign file only.
    var encryption: EncryptionSettings?

    /// The names of all settings, as the keys of a campaign file.
    static let keys = SettingName.keys(of: CampaignSettings())

    /// Beside `providers` these would say twice whose key it is.
    static let keysOfOneProvider = ProviderSettings.keys.filter { $0 != "topics" }

    /// The values that are paths: in a campaign file they are relative to that file.
    private static var paths: [WritableKeyPath<CampaignSettings, String?>] {
        [
            \.input, \.keyFile, \.certificateFile, \.certificateKeyFile, \.caFile, \.template, \.runDir,
            \.simulatorScript, \.keyPassphraseFile, \.proxyPasswordFile,
        ]
    }

    /// The same with relative paths taken from `directory`.
    func relative(to directory: String) -> CampaignSettings {
        var settings = self
        for path in Self.paths {
            settings[keyPath: path] = settings[keyPath: path].map { Self.path($0, from: directory) }
        }
        for number in (providers ?? []).indices {
            for path in ProviderSettings.paths {
                settings.providers?[number][keyPath: path] = providers?[number][keyPath: path].map {
                    Self.path($0, from: directory)
                }
            }
        }
        settings.strings = strings?.map { Self.path($0, from: directory) }
        settings.templates = templates?.mapValues { Self.path($0, from: directory) }
        settings.variants = variants?.mapValues { Self.path($0, from: directory) }
        return settings
    }

    /// What is empty stays so: it is nobody's path, and an error.
    static func path(_ value: String, from directory: String) -> String {
        value == "-" || value.hasPrefix("/") || directory.isEmpty || value.isEmpty ? value : directory + "/" + value
    }
}

/// The three spellings of a setting's name.
enum SettingName {
    /// The properties of a value, as the keys of a campaign file.
    static func keys(of value: Any) -> [String] { Mirror(reflecting: value).children.compactMap(\.label).map(key) }

    /// `keyFile` → `key_file`.
    static func key(_ property: String) -> String {
        property.reduce(into: "") { $0 += $1.isUppercase ? "_" + $1.lowercased() : String($1) }
    }

    /// `key_file` → `keyFile`.
    static func property(_ key: String) -> String {
        let words = key.split(separator: "_", omittingEmptySubsequences: false)
        return words.dropFirst().reduce(String(words.first ?? "")) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
    }

    /// `key_file` → `--key-file`.
    static func flag(_ key: String) -> String { "--" + key.replacing("_", with: "-") }
}
