import APNSBatchNotification

/// How rows of a campaign are sent again.
struct BackoffPlan: Equatable, Sendable {
    /// 429, and requests without an answer.
    let short: RetryBackoff
    /// 500 and 503.
    let long: RetryBackoff
    /// Rows of a lane that may wait; then it takes no fresh ones, for memory has an end.
    let rowsMax: Int

    /// No delay is longer.
    private static let delayMax: UInt64 = 86_400_000

    init(_ campaign: Campaign) throws(CampaignError) {
        guard (1...1_000_000).contains(campaign.retryRows) else {
            throw CampaignError(.configuration, "retry rows: expected 1 to 1000000, found \(campaign.retryRows)")
        }
        rowsMax = campaign.retryRows
        short = try Self.backoff(.short, campaign.retryDelay, "retry delay", campaign)
        long = try Self.backoff(.long, campaign.unavailableDelay ?? campaign.retryDelay, "unavailable delay", campaign)
    }

    private static func backoff(
        _ table: RetryBackoff, _ given: UInt64?, _ name: String, _ campaign: Campaign
    ) throws(CampaignError) -> RetryBackoff {
        let first = given ?? table.first
        guard (1...delayMax).contains(first) else {
            throw CampaignError(.configuration, "\(name): expected 1 to \(delayMax) ms, found \(first)")
        }
        guard campaign.retryAfterLimit <= 30 * 86_400 else {
            throw CampaignError(
                .configuration, "retry after: expected at most 2592000 seconds, found \(campaign.retryAfterLimit)")
        }
        var backoff = RetryBackoff(
            first: first, maximum: max(first, table.maximum), attempts: max(1, campaign.attempts))
        backoff.retryAfterMax = campaign.retryAfterLimit
        return backoff
    }
}
