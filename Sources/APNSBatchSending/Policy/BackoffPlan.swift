import APNSBatchModel
import APNSBatchNotification

/// The delays after which rows of a campaign are sent again.
struct BackoffPlan: Equatable, Sendable {
    /// The delays after 429, and after requests without an answer.
    let short: RetryBackoff
    /// The delays after 500 and 503.
    let long: RetryBackoff
    /// The number of waiting rows at which a lane takes no fresh rows, so that memory is bounded.
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
