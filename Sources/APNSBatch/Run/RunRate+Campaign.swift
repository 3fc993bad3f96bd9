import APNSBatchModel
import APNSBatchRecords
import APNSBatchSending

extension RunRate {
    /// Makes the limit of a run, and the file through which runs share it.
    convenience init(of campaign: Campaign) throws(CampaignError) {
        if let path = try Self.sharedPath(of: campaign) {
            try self.init(campaign.rateLimit, sharedBy: path)
        } else {
            self.init(campaign.rateLimit)
        }
    }

    /// Throws what making the limit of a run would throw, and leaves nothing behind.
    static func attempt(_ campaign: Campaign) throws(CampaignError) {
        if let path = try sharedPath(of: campaign) { try RateFile.attempt(path) }
    }

    /// The path of the file; nil if the run has a limit of its own, or none.
    @discardableResult
    static func sharedPath(of campaign: Campaign) throws(CampaignError) -> String? {
        guard let path = campaign.sharedRatePath else { return nil }
        guard campaign.rateLimit.rate != nil else {
            throw CampaignError(.configuration, "rate shared: needs a rate")
        }
        return path
    }
}
