/// The settings of a correction: those of the campaign, without what is about its nightly input.
extension CampaignSettings {
    /// The settings of a campaign file about the input of a night, the number of its rows, and its figures.
    private static let nightly = [
        "input", "inputCommand", "inputQuery", "inputTimeout", "minRows", "fromRow", "requireFresh", "expect",
        "campaignId",
        "spool",
    ]

    /// Returns the settings of a campaign file without these.
    func withoutNight(isCorrection: Bool) -> CampaignSettings {
        guard isCorrection else { return self }
        var settings = self
        for name in Self.nightly { settings.values[name] = nil }
        return settings
    }
}
