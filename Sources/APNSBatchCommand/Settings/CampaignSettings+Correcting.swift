/// The settings of a correction: those of the campaign, without what is about its nightly input.
extension CampaignSettings {
    /// Returns the settings of a campaign file without these.
    func withoutNight(isCorrection: Bool) -> CampaignSettings {
        guard isCorrection else { return self }
        var settings = self
        for setting in Setting.all where !setting.correction.isOfFile { settings.values[setting.name] = nil }
        return settings
    }
}
