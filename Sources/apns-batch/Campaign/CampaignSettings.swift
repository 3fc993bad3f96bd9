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
    var caFile: String?
    var template: String?
    var pushType: String?
    var priority: Int?
    var expiration: UInt64?
    var collapseId: String?
    var delimiter: String?
    var campaignId: String?
    var lanes: Int?
    var connections: Int?
    var loop: String?
    var attempts: Int?
    var requestTimeout: UInt32?
    var connectPatience: Int?
    var runDir: String?
    var simulatorScript: String?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case input, to, topic
        case keyFile = "key_file"
        case keyId = "key_id"
        case teamId = "team_id"
        case certificateFile = "certificate_file"
        case certificateKeyFile = "certificate_key_file"
        case caFile = "ca_file"
        case template
        case pushType = "push_type"
        case priority, expiration
        case collapseId = "collapse_id"
        case delimiter
        case campaignId = "campaign_id"
        case lanes, connections, loop, attempts
        case requestTimeout = "request_timeout"
        case connectPatience = "connect_patience"
        case runDir = "run_dir"
        case simulatorScript = "simulator_script"
    }

    /// The values that are paths: in a campaign file they are relative to that file.
    private static var paths: [WritableKeyPath<CampaignSettings, String?>] {
        [
            \.input, \.keyFile, \.certificateFile, \.certificateKeyFile, \.caFile, \.template, \.runDir,
            \.simulatorScript,
        ]
    }

    /// These settings, and `file`'s where these say nothing.
    func over(_ file: CampaignSettings) -> CampaignSettings {
        CampaignSettings(
            input: input ?? file.input, to: to ?? file.to, topic: topic ?? file.topic,
            keyFile: keyFile ?? file.keyFile, keyId: keyId ?? file.keyId, teamId: teamId ?? file.teamId,
            certificateFile: certificateFile ?? file.certificateFile,
            certificateKeyFile: certificateKeyFile ?? file.certificateKeyFile, caFile: caFile ?? file.caFile,
            template: template ?? file.template, pushType: pushType ?? file.pushType,
            priority: priority ?? file.priority, expiration: expiration ?? file.expiration,
            collapseId: collapseId ?? file.collapseId, delimiter: delimiter ?? file.delimiter,
            campaignId: campaignId ?? file.campaignId, lanes: lanes ?? file.lanes,
            connections: connections ?? file.connections, loop: loop ?? file.loop,
            attempts: attempts ?? file.attempts, requestTimeout: requestTimeout ?? file.requestTimeout,
            connectPatience: connectPatience ?? file.connectPatience, runDir: runDir ?? file.runDir,
            simulatorScript: simulatorScript ?? file.simulatorScript)
    }

    /// The same with relative paths taken from `directory`.
    func relative(to directory: String) -> CampaignSettings {
        var settings = self
        for path in Self.paths {
            guard let value = settings[keyPath: path], value != "-", !value.hasPrefix("/") else { continue }
            settings[keyPath: path] = directory.isEmpty ? value : directory + "/" + value
        }
        return settings
    }
}
