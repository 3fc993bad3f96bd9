import APNSBatchBasics
import APNSBatchModel

/// Starts that sent nothing.
extension RunHistory {
    /// Adds that a start was refused, unless the last line of the campaign is the same. The directory is made if it is not there: a first
    /// night can be refused, too.
    ///
    /// - Parameters:
    ///   - reason: One sentence without device tokens.
    ///   - exitCode: The exit code of the process.
    ///   - campaign: The name of the campaign.
    ///   - destination: Where it would have been sent; nil if that is not known.
    ///   - topic: Its topic; nil if that is not known, or if rows have topics of their own.
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/configuration`` if the directory or the file cannot be made, and with
    ///   ``CampaignError/Code/results`` if the file cannot be read or written.
    public func note(
        refused reason: String, exitCode: Int32, of campaign: String, to destination: Campaign.Destination?,
        topic: String?
    ) throws(CampaignError) {
        try prepare()
        let known = KnownCampaign(
            name: campaign, environment: destination.map { CampaignDigest.environmentName($0) } ?? "",
            topic: Printable.message(topic ?? ""))
        let start = RefusedStart(
            campaign: known, time: Timestamp.text(ofSeconds: SystemClock.seconds()), exitCode: exitCode,
            reason: Printable.message(reason))
        if case .refused(var last)? = try entries().all.last(where: { $0.campaign == campaign }) {
            last.time = start.time
            if last == start { return }
        }
        _ = try add(.refused(start))
    }
}
