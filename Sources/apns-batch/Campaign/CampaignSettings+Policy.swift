import APNSBatch

/// When a campaign sends, when it sends again, and when it stops by itself.
extension CampaignSettings {
    func applyPolicy(to campaign: inout Campaign) throws {
        campaign.notAfter = try notAfter.map { text in
            guard let time = Campaign.Expiration(text), time != .at(0) else {
                throw UsageError(
                    "--not-after: expected a time such as 2026-01-01T08:00:00Z, or a duration such as 6h, "
                        + "found \"\(text)\"")
            }
            return time
        }
    }
}
