import APNSBatch

/// What is expected of a night, and who is told of it.
extension Setting {
    static let night: [Setting] = [
        Setting(
            "expect", .texts, standard: "accepted > 0, and no row unavailable, invalid, unknown or expired",
            "METRIC OP VALUE, such as \"accepted >= 95%\" or \"rows within 30% of median\": else exit code 2, or 64 for rows. Repeatable."
        ) { $0.expectations = try $1.texts.map { try CampaignExpectation($0) } },
        Setting(
            "requireFresh", .text, standard: "any age",
            "Age of the input file, such as 20h, beyond which it is refused before anything is sent."
        ) { $0.inputAgeLimit = try $1.parsed("a duration such as 20h", CampaignSettings.seconds) },
        Setting(
            "stateDir", .path, standard: "none",
            "Directory for the history of runs, which medians and the command runs are made from."
        ) { $0.stateDirectory = $1.text },
    ]
}

extension CampaignSettings {
    /// Parses a duration such as `20h`.
    static func seconds(_ text: String) -> UInt64? {
        if case .after(let seconds)? = Campaign.Expiration(text) { seconds } else { nil }
    }
}
