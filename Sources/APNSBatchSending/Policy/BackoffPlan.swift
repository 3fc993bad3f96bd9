import APNSBatchModel
import APNSBatchNotification

/// The delays after which rows of a campaign are sent again.
struct BackoffPlan: Equatable, Sendable {
    /// The delays after 429, and after requests without an answer.
    let short: RetryBackoff
    /// The delays after 500 and 503.
    let long: RetryBackoff
    /// The maximum number of attempts for a row.
    let attempts: Int
    /// The number of waiting rows at which a lane takes no fresh rows, so that memory is bounded.
    let rowsMax: Int

    init(_ campaign: Campaign) {
        (attempts, rowsMax) = (campaign.attempts, campaign.retryRows)
        short = Self.backoff(.short, campaign.retryDelay, campaign)
        long = Self.backoff(.long, campaign.unavailableDelay ?? campaign.retryDelay, campaign)
    }

    private static func backoff(_ table: RetryBackoff, _ given: Duration?, _ campaign: Campaign) -> RetryBackoff {
        let first = given?.milliseconds ?? table.first
        var backoff = RetryBackoff(first: first, maximum: max(first, table.maximum))
        backoff.retryAfterMax = campaign.retryAfterLimit.seconds
        return backoff
    }

    /// Returns the delay before the next attempt in nanoseconds, or nil if no attempt is left; see `RetryBackoff`.
    func delay(_ backoff: RetryBackoff, afterAttempt attempt: Int, retryAfter: UInt64? = nil, random: UInt64) -> UInt64?
    {
        guard attempt < attempts else { return nil }
        return backoff.delay(afterAttempt: attempt, retryAfter: retryAfter, random: random) * 1_000_000
    }
}
