import APNSBatchModel
import APNSBatchNotification

/// How rows of a campaign are sent again.
struct BackoffPlan: Equatable, Sendable {
    /// 429, and requests without an answer.
    let short: RetryBackoff
    /// 500 and 503.
    let long: RetryBackoff
    /// Rows of a lane that may wait; then it takes no fresh ones, for memory has an end.
    let rowsMax: Int

    init(_ campaign: Campaign) {
        rowsMax = campaign.retryRows
        short = Self.backoff(.short, campaign.retryDelay, campaign)
        long = Self.backoff(.long, campaign.unavailableDelay ?? campaign.retryDelay, campaign)
    }

    private static func backoff(_ table: RetryBackoff, _ given: UInt64?, _ campaign: Campaign) -> RetryBackoff {
        let first = given ?? table.first
        var backoff = RetryBackoff(
            first: first, maximum: max(first, table.maximum), attempts: max(1, campaign.attempts))
        backoff.retryAfterMax = campaign.retryAfterLimit
        return backoff
    }
}
