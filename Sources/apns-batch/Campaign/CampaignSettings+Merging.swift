/// How the settings of several places become one: by value, whatever the setting is.
extension CampaignSettings {
    /// By name; settings that nobody gave are not among them.
    var values: [String: JSONValue] {
        guard case .members(let values) = try? JSONValue(of: self) else { return [:] }
        return values
    }

    init(_ values: [String: JSONValue]) throws {
        self = try JSONValue.members(values).decoded(as: CampaignSettings.self)
    }

    /// Settings that say the same thing in different ways: one from a closer place puts the others of a farther place out
    /// of force.
    private static let alternatives: [String: [String]] = [
        "template": ["templates", "variants", "fallback"],
        "templates": ["template", "variants"],
        "variants": ["template", "templates"],
        "keyFile": ["certificateFile", "certificateKeyFile"],
        "certificateFile": ["keyFile", "keyId", "teamId"],
        "keyPassphraseFile": ["keyPassphraseEnv"],
        "keyPassphraseEnv": ["keyPassphraseFile"],
        "proxyPasswordFile": ["proxyPasswordEnv"],
        "proxyPasswordEnv": ["proxyPasswordFile"],
    ]

    /// These settings, and `file`'s where these say nothing.
    func over(_ file: CampaignSettings) -> CampaignSettings {
        let (own, theirs) = (values, file.values)
        return (try? CampaignSettings(Self.laid(own, over: theirs))) ?? self
    }

    private static func laid(
        _ own: [String: JSONValue], over others: [String: JSONValue]
    ) -> [String: JSONValue] {
        var values = others
        for (name, value) in own {
            for other in alternatives[name] ?? [] where own[other] == nil { values[other] = nil }
            // Shares are given reason by reason.
            if name == "stopAt", case .members(let shares) = value, case .members(let before)? = others[name] {
                values[name] = .members(before.merging(shares) { $1 })
            } else {
                values[name] = value
            }
        }
        return values
    }

    /// These settings, and on top of them what a campaign file says now and did not say `before`; what it no longer says
    /// is gone, unless these settings had it from elsewhere.
    func changed(from before: CampaignSettings, to now: CampaignSettings) -> CampaignSettings {
        let (old, new) = (before.values, now.values)
        var kept = values
        for (name, value) in old where new[name] == nil && kept[name] == value { kept[name] = nil }
        let changes = new.filter { old[$0.key] != $0.value }
        // What a change puts out of force was said before it.
        if case .members = changes["stopAt"] { kept["stopAt"] = Self.withoutShares(kept["stopAt"], old["stopAt"]) }
        return (try? CampaignSettings(Self.laid(changes, over: kept))) ?? self
    }

    /// The shares that were not the file's.
    private static func withoutShares(_ kept: JSONValue?, _ file: JSONValue?) -> JSONValue? {
        guard case .members(let shares)? = kept, case .members(let old)? = file else { return kept }
        return .members(shares.filter { old[$0.key] != $0.value })
    }
}
