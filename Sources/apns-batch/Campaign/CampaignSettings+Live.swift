import APNSBatch

/// The settings that may change in the campaign file while a run goes on.
extension CampaignSettings {
    private static let limits = ["rate", "ramp", "spread"]

    /// Returns the limits of requests per time.
    func rateLimit() throws -> Campaign.RateLimit {
        var campaign = Campaign(input: .standardInput, destination: .production, topic: nil, providers: [])
        for name in Self.limits {
            guard let value = values[name] else { continue }
            do {
                try Setting.named(name)?.apply?(&campaign, value)
            } catch {
                throw UsageError("\(SettingName.key(name)): \(error)")
            }
        }
        return campaign.rateLimit
    }
}
