/// The settings that file and flags give for a campaign or for one of its providers. Each value is stored as it was given, by
/// the name of its ``Setting``. The ledger stores them as one JSON object.
@dynamicMemberLookup
struct CampaignSettings: Codable, Equatable {
    var values: [String: SettingValue] = [:]

    init(_ values: [String: SettingValue] = [:]) { self.values = values }

    init(from decoder: any Decoder) throws { values = try decoder.singleValueContainer().decode(type(of: values)) }

    func encode(to encoder: any Encoder) throws { try values.encode(to: encoder) }

    /// The text of a setting, such as `keyFile`.
    subscript(dynamicMember name: String) -> String? {
        get {
            precondition(Setting.named(name) != nil, "no setting is called \(name)")
            return values[name]?.text
        }
        set { values[name] = newValue.map { .text($0) } }
    }

    /// Returns the settings with relative paths resolved against `directory`.
    func relative(to directory: String) -> CampaignSettings {
        CampaignSettings(Self.relative(values, Setting.all.map(\.form)) { Self.path($0, from: directory) })
    }

    private static func relative(
        _ values: [String: SettingValue], _ table: [SettingForm], _ path: (String) -> String
    ) -> [String: SettingValue] {
        var values = values
        for setting in table {
            guard let value = values[setting.name] else { continue }
            switch setting.kind {
            case .path, .pathOrPaths, .paths, .pathsByName: values[setting.name] = value.mapText(path)
            case .command: values[setting.name] = .list(relative(command: value.list ?? [], path))
            case .record(let table): values[setting.name] = .members(relative(value.members ?? [:], table, path))
            case .records(let table):
                values[setting.name] = .list(
                    (value.list ?? []).map { .members(relative($0.members ?? [:], table, path)) })
            default: break
            }
        }
        return values
    }

    /// The name of a program without a slash is searched for in PATH, and is not a path.
    private static func relative(command: [SettingValue], _ path: (String) -> String) -> [SettingValue] {
        guard let program = command.first, program.text?.contains("/") == true else { return command }
        return [program.mapText(path)] + command.dropFirst()
    }

    /// An empty path stays empty, so that it is reported as an error.
    static func path(_ value: String, from directory: String) -> String {
        value == "-" || value.hasPrefix("/") || directory.isEmpty || value.isEmpty ? value : directory + "/" + value
    }
}

/// Combines the settings of several sources.
extension CampaignSettings {
    /// Returns these settings, and those of `others` that these do not have.
    func over(_ others: CampaignSettings) -> CampaignSettings {
        var laid = others
        for (name, value) in values {
            for other in Setting.named(name)?.replaces ?? [] where values[other] == nil { laid.values[other] = nil }
            // Shares are merged by reason.
            if case .shares? = Setting.named(name)?.kind, let before = others.values[name]?.members {
                laid.values[name] = .members(before.merging(value.members ?? [:]) { $1 })
            } else {
                laid.values[name] = value
            }
        }
        return laid
    }

    /// Returns these settings with the changes of a campaign file from `before` to `now`. A setting that the file no longer
    /// has is removed, unless its value came from elsewhere.
    func changed(from before: CampaignSettings, to now: CampaignSettings) -> CampaignSettings {
        var kept = self
        for (name, value) in before.values where now.values[name] == nil && values[name] == value {
            kept.values[name] = nil
        }
        let changes = CampaignSettings(now.values.filter { before.values[$0.key] != $0.value })
        // Shares that did not come from the file are kept.
        if changes.values["stopAt"] != nil, let shares = kept.values["stopAt"]?.members {
            let old = before.values["stopAt"]?.members ?? [:]
            kept.values["stopAt"] = .members(shares.filter { old[$0.key] != $0.value })
        }
        return changes.over(kept)
    }
}
