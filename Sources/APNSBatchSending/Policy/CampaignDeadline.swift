import APNSBatchBasics
import APNSBatchModel
import APNSBatchNotification

/// The time from which on a campaign sends nothing more. Seconds since 1970-01-01 00:00 UTC, as rows' own expirations are.
struct CampaignDeadline: Equatable, Sendable {
    let seconds: UInt64

    /// - Parameter start: of the campaign; durations count from here, also when it is resumed.
    init(_ given: Campaign.Expiration, start: UInt64) throws(CampaignError) {
        switch given {
        case .at(let time): seconds = time
        case .after(let duration): seconds = start &+ min(duration, UInt64(GivenExpiration.durationMax))
        }
        if seconds == 0 { throw CampaignError(.configuration, "not after: expected a time or a duration, found 0") }
    }

    /// What is said of a campaign that could not send a row.
    var passed: CampaignError {
        CampaignError(
            .configuration,
            "not-after: expected a time in the future, found \(Timestamp.text(Int64(clamping: seconds)))")
    }

    func hasPassed(now: UInt64) -> Bool { now >= seconds }

    /// Whether a row that waits so many nanoseconds from now can be sent at all.
    func leavesTime(after delay: UInt64, now: UInt64) -> Bool { now + delay / 1_000_000_000 < seconds }
}
