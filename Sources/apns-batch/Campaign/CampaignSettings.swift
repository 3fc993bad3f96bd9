/// What file and flags say about a campaign, or about one of its providers: each value as it was written, by the name of its
/// ``Setting``; what nobody said is not among them. In the ledger it is one JSON object.
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

    /// The same with relative paths taken from `directory`.
    func relative(to directory: String) -> CampaignSettings {
        CampaignSettings(Self.relative(values, Setting.all) { Self.path($0, from: directory) })
    }

    private static func relative(
        _ values: [String: SettingValue], _ table: [Setting], _ path: (String) -> String
    ) -> [String: SettingValue] {
        var values = values
        for setting in table {
            guard let value = values[setting.name] else { continue }
            switch setting.kind {
            case .path, .paths, .pathsByName: values[setting.name] = value.mapText(path)
            case .records(let table):
                values[setting.name] = .list(
                    (value.list ?? []).map { .members(relative($0.members ?? [:], table, path)) })
            default: break
            }
        }
        return values
    }

    /// What is empty stays so: it is nobody's path, and an error.
    static func path(_ value: String, from directory: String) -> String {
        value == "-" || value.hasPrefix("/") || directory.isEmpty || value.isEmpty ? value : directory + "/" + value
    }
}

/// How the settings of several places become one.
extension CampaignSettings {
    /// These settings, and `others` where these say nothing.
    func over(_ others: CampaignSettings) -> CampaignSettings {
        var laid = others
        for (name, value) in values {
            for other in Setting.named(name)?.replaces ?? [] where values[other] == nil { laid.values[other] = nil }
            // Shares are given reason by reason.
            if case .shares? = Setting.named(name)?.kind, let before = others.values[name]?.members {
                laid.values[name] = .members(before.merging(value.members ?? [:]) { $1 })
            } else {
                laid.values[name] = value
            }
        }
        return laid
    }

    /// These settings, and on top of them what a campaign file says now and did not say `before`; what it no longer says
    /// is gone, unless these settings had it from elsewhere.
    func changed(from before: CampaignSettings, to now: CampaignSettings) -> CampaignSettings {
        var kept = self
        for (name, value) in before.values where now.values[name] == nil && values[name] == value {
            kept.values[name] = nil
        }
        let changes = CampaignSettings(now.values.filter { before.values[$0.key] != $0.value })
        // Shares that were not the file's stay beside those that it has now.
        if changes.values["stopAt"] != nil, let shares = kept.values["stopAt"]?.members {
            let old = before.values["stopAt"]?.members ?? [:]
            kept.values["stopAt"] = .members(shares.filter { old[$0.key] != $0.value })
        }
        return changes.over(kept)
    }
}
