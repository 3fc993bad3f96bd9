import APNSBatchBasics
import APNSBatchModel
import APNSBatchNotification

/// The time from which on a campaign sends nothing more, in seconds since 1970-01-01 00:00 UTC like the rows' own
/// expirations.
package struct CampaignDeadline: Equatable, Sendable {
    package let seconds: UInt64

    /// - Parameter seconds: `UInt64.max` for a deadline that never passes.
    init(seconds: UInt64) { self.seconds = seconds }

    /// - Parameter start: The start of the campaign in its first session; durations count from here, also in a resumed run.
    package init(_ given: Campaign.Expiration, start: UInt64) throws(CampaignError) {
        switch given {
        case .at(let time): seconds = time
        case .after(let time): seconds = start &+ min(time.seconds, UInt64(GivenExpiration.durationMax))
        }
        if seconds == 0 { throw CampaignError(.configuration, "not after: expected a time or a duration, found 0") }
    }

    /// The error of a campaign whose deadline had passed before it could send a row.
    var passed: CampaignError {
        CampaignError(
            .configuration,
            "not-after: expected a time in the future, found \(Timestamp.text(Int64(clamping: seconds)))")
    }

    /// The error of a run whose unavailable rows were to be sent again after it: they would expire instead.
    var refusedRetry: CampaignError {
        CampaignError(
            .configuration,
            "not-after: passed at \(Timestamp.text(Int64(clamping: seconds))), so that unavailable rows would expire instead of "
                + "being sent again; give a later time")
    }

    func hasPassed(now: UInt64) -> Bool { now >= seconds }

    /// Whether a row that waits for `delay` nanoseconds from now can still be sent.
    func leavesTime(after delay: UInt64, now: UInt64) -> Bool { now + delay / 1_000_000_000 < seconds }
}
