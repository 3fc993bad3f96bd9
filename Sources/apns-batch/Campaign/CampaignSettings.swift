/// What file and flags say about a campaign, each value as it was written and nil where nothing was.
struct CampaignSettings: Codable {
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

    enum CodingKeys: String, CodingKey, CaseIterable {
        case input, to, topic
        case keyFile = "key_file"
        case keyId = "key_id"
        case teamId = "team_id"
        case certificateFile = "certificate_file"
        case certificateKeyFile = "certificate_key_file"
        case providers
        case caFile = "ca_file"
        case template, templates, variants, fallback, strings
        case pushType = "push_type"
        case priority, expiration
        case collapseId = "collapse_id"
        case minRows = "min_rows"
        case delimiter
        case campaignId = "campaign_id"
        case lanes, connections, streams, loop, attempts
        case requestTimeout = "request_timeout"
        case connectPatience = "connect_patience"
        case notAfter = "not_after"
        case answerPatience = "answer_patience"
        case goawayPatience = "goaway_patience"
        case pingAfter = "ping_after"
        case pingPatience = "ping_patience"
        case retryDelay = "retry_delay"
        case unavailableDelay = "unavailable_delay"
        case retryAfterMax = "retry_after_max"
        case retryRows = "retry_rows"
        case stopAt = "stop_at"
        case stopWindow = "stop_window"
        case stopMinimum = "stop_minimum"
        case canary
        case canaryMaxRejected = "canary_max_rejected"
        case tokenMintAfter = "token_mint_after"
        case tokenRetireAfter = "token_retire_after"
        case proxy
        case proxyPasswordFile = "proxy_password_file"
        case proxyPasswordEnv = "proxy_password_env"
        case runDir = "run_dir"
        case resultColumns = "result_columns"
        case simulatorScript = "simulator_script"
        case onUnknown = "on_unknown"
        case syncInterval = "sync_interval"
        case keyPassphraseFile = "key_passphrase_file"
        case keyPassphraseEnv = "key_passphrase_env"
        case encryption
    }

    /// The values that are paths: in a campaign file they are relative to that file.
    private static var paths: [WritableKeyPath<CampaignSettings, String?>] {
        [
            \.input, \.keyFile, \.certificateFile, \.certificateKeyFile, \.caFile, \.template, \.runDir,
            \.simulatorScript, \.keyPassphraseFile, \.proxyPasswordFile,
        ]
    }

    /// These settings, and `file`'s where these say nothing.
    func over(_ file: CampaignSettings) -> CampaignSettings {
        CampaignSettings(
            input: input ?? file.input, to: to ?? file.to, topic: topic ?? file.topic,
            keyFile: keyFile ?? file.keyFile, keyId: keyId ?? file.keyId, teamId: teamId ?? file.teamId,
            certificateFile: certificateFile ?? file.certificateFile,
            certificateKeyFile: certificateKeyFile ?? file.certificateKeyFile,
            providers: providers ?? file.providers, caFile: caFile ?? file.caFile,
            template: template ?? file.template,
            templates: template == nil ? file.templates : nil, variants: template == nil ? file.variants : nil,
            fallback: template == nil ? file.fallback : nil, strings: strings ?? file.strings,
            pushType: pushType ?? file.pushType,
            priority: priority ?? file.priority, expiration: expiration ?? file.expiration,
            collapseId: collapseId ?? file.collapseId, minRows: minRows ?? file.minRows,
            delimiter: delimiter ?? file.delimiter,
            campaignId: campaignId ?? file.campaignId, lanes: lanes ?? file.lanes,
            connections: connections ?? file.connections, streams: streams ?? file.streams, loop: loop ?? file.loop,
            attempts: attempts ?? file.attempts, requestTimeout: requestTimeout ?? file.requestTimeout,
            connectPatience: connectPatience ?? file.connectPatience,
            notAfter: notAfter ?? file.notAfter, answerPatience: answerPatience ?? file.answerPatience,
            goawayPatience: goawayPatience ?? file.goawayPatience,
            pingAfter: pingAfter ?? file.pingAfter,
            pingPatience: pingPatience ?? file.pingPatience,
            retryDelay: retryDelay ?? file.retryDelay,
            unavailableDelay: unavailableDelay ?? file.unavailableDelay,
            retryAfterMax: retryAfterMax ?? file.retryAfterMax, retryRows: retryRows ?? file.retryRows,
            stopAt: Self.merge(stopAt, over: file.stopAt), stopWindow: stopWindow ?? file.stopWindow,
            stopMinimum: stopMinimum ?? file.stopMinimum, canary: canary ?? file.canary,
            canaryMaxRejected: canaryMaxRejected ?? file.canaryMaxRejected,
            tokenMintAfter: tokenMintAfter ?? file.tokenMintAfter,
            tokenRetireAfter: tokenRetireAfter ?? file.tokenRetireAfter, proxy: proxy ?? file.proxy,
            proxyPasswordFile: proxyPasswordEnv == nil
                ? proxyPasswordFile ?? file.proxyPasswordFile : proxyPasswordFile,
            proxyPasswordEnv: proxyPasswordFile == nil ? proxyPasswordEnv ?? file.proxyPasswordEnv : proxyPasswordEnv,
            runDir: runDir ?? file.runDir, resultColumns: resultColumns ?? file.resultColumns,
            simulatorScript: simulatorScript ?? file.simulatorScript,
            onUnknown: onUnknown ?? file.onUnknown, syncInterval: syncInterval ?? file.syncInterval,
            keyPassphraseFile: keyPassphraseEnv == nil
                ? keyPassphraseFile ?? file.keyPassphraseFile : keyPassphraseFile,
            keyPassphraseEnv: keyPassphraseFile == nil ? keyPassphraseEnv ?? file.keyPassphraseEnv : keyPassphraseEnv,
            encryption: encryption ?? file.encryption)
    }

    private static func merge(_ own: [String: String]?, over file: [String: String]?) -> [String: String]? {
        guard let own, let file else { return own ?? file }
        return file.merging(own) { $1 }
    }

    /// These settings, and those of a campaign file, if there is one, where these say nothing.
    func over(campaignFile path: String?) throws -> CampaignSettings {
        guard let path else { return self }
        return over(try CampaignFile.read(path))
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

    private static func path(_ value: String, from directory: String) -> String {
        value == "-" || value.hasPrefix("/") || directory.isEmpty ? value : directory + "/" + value
    }

    /// Beside `providers` these would say twice whose key it is.
    static let keysOfOneProvider = ProviderSettings.CodingKeys.allCases.map(\.rawValue).filter { $0 != "topics" }
}
