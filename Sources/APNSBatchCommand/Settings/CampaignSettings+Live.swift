import APNSBatch

/// The settings that may change in the campaign file during a run, besides keys and certificates.
struct LiveSettings: Equatable {
    var limit = Campaign.RateLimit()
    var notAfter: Campaign.Expiration?
    var expectations: [CampaignExpectation] = []

    /// The settings themselves.
    fileprivate static let settings = Setting.all.filter(\.isLive)

    /// Applies what differs from earlier settings to a run. Returns a line for each change.
    func apply(to run: CampaignRun, after earlier: LiveSettings) throws -> [String] {
        var changes: [String] = []
        if limit != earlier.limit {
            try run.setRateLimit(limit)
            changes.append("\(limit)")
        }
        if notAfter != earlier.notAfter {
            try run.setDeadline(notAfter)
            changes.append(run.changes.last?.text ?? "deadline")
        }
        if expectations != earlier.expectations {
            try run.setExpectations(expectations)
            changes.append("expectations, which are judged when the run is complete")
        }
        return changes
    }
}

extension CampaignSettings {
    /// Returns the settings that may change during a run.
    func live() throws -> LiveSettings {
        let campaign = try only(LiveSettings.settings)
        return LiveSettings(
            limit: campaign.rateLimit, notAfter: campaign.notAfter, expectations: campaign.expectations)
    }
}
