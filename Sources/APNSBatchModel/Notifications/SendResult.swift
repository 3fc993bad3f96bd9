import APNSBatchNotification

/// How one notification ended that a `Sender` sent. What APNs answers is a result, even 410; errors (``SendError``) are for
/// what happened on the way.
public struct SendResult: Sendable, Equatable {
    /// For a notification there is no ``Outcome/suppressed``.
    public let outcome: Outcome
    /// The HTTP status of APNs's answer; nil without an answer.
    public let status: Int?
    /// The reason of APNs's answer, or the cause of another outcome than accepted; nil if it was accepted.
    public let reason: String?
    /// For 410, the last time at which APNs found that the device token is not active, in milliseconds since 1970-01-01 00:00
    /// UTC; otherwise nil. A token that was registered again after that time is valid. Apple, "Handling notification responses
    /// from APNs".
    public let inactiveSince: UInt64?
    private let id: MessageID?
    /// The number of requests, except those that certainly did not arrive.
    public let attempts: Int
    /// The time from the hand-over of the last request to its answer; nil without an answer.
    public let answerTime: Duration?

    /// The `apns-id` of all requests for the notification, or the `apns-request-id` of a broadcast, as a UUID in lower case; nil
    /// if there was none.
    public var messageID: String? { id?.text }

    /// How far the last request got.
    public var arrival: Arrival { outcome.arrival }

    /// Creates the result from an outcome of a batch.
    ///
    /// - Parameter campaign: The identity from which message ids are derived.
    package init(_ entry: OutcomeEntry, in batch: OutcomeBatch, campaign: (UInt64, UInt64)) {
        outcome = entry.outcome
        status = entry.httpStatus == 0 ? nil : Int(entry.httpStatus)
        reason = entry.reasonLength == 0 ? nil : unsafe String(decoding: batch.reason(of: entry), as: UTF8.self)
        inactiveSince = entry.timestamp == OutcomeEntry.noTimestamp ? nil : entry.timestamp
        if entry.hasOwnID {
            id = unsafe MessageID(text: batch.ownID(of: entry).baseAddress!)
        } else {
            id = entry.attempts == 0 ? nil : MessageID(campaign: campaign, row: entry.row)
        }
        attempts = Int(entry.attempts.count)
        answerTime =
            entry.outcome.arrival == .answered && entry.answerTime > 0
            ? .microseconds(Int64(entry.answerTime)) : nil
    }
}
