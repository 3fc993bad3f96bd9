import APNSBatchNotification

/// How one notification ended that a `Sender` sent. What APNs answers is a result, even 410; errors (``SendError``) are for
/// what happened on the way.
public struct SendResult: Sendable, Equatable {
    /// The reason of APNs's answer, or the cause of another outcome than accepted; nil if it was accepted.
    public let reason: String?
    private let id: MessageID?
    /// For a notification there is no ``Outcome/suppressed``.
    public let outcome: Outcome
    // In the form of an outcome entry, because results are copied on their way.
    private let httpStatus: UInt16
    private let timestamp: UInt64
    private let requests: Attempts
    private let microseconds: UInt32

    /// The HTTP status of APNs's answer; nil without an answer.
    public var status: Int? { httpStatus == 0 ? nil : Int(httpStatus) }

    /// For 410, the last time at which APNs found that the device token is not active, in milliseconds since 1970-01-01 00:00
    /// UTC; otherwise nil. A token that was registered again after that time is valid. Apple, "Handling notification responses
    /// from APNs".
    public var inactiveSince: UInt64? { timestamp == OutcomeEntry.noTimestamp ? nil : timestamp }

    /// The number of requests, except those that certainly did not arrive.
    public var attempts: Int { Int(requests.count) }

    /// The time from the hand-over of the last request to its answer; nil without an answer.
    public var answerTime: Duration? { microseconds > 0 ? .microseconds(Int64(microseconds)) : nil }

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
        httpStatus = entry.httpStatus
        reason = entry.reasonLength == 0 ? nil : unsafe String(decoding: batch.reason(of: entry), as: UTF8.self)
        timestamp = entry.timestamp
        if entry.hasOwnID {
            id = unsafe MessageID(text: batch.ownID(of: entry).baseAddress!)
        } else {
            id = entry.attempts == 0 ? nil : MessageID(campaign: campaign, row: entry.row)
        }
        requests = entry.attempts
        microseconds = entry.outcome.arrival == .answered ? entry.answerTime : 0
    }
}
