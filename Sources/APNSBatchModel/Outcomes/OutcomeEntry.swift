/// The outcome of one row, in a fixed layout. Its token and reason are in the bytes of the batch.
@usableFromInline package struct OutcomeEntry: Sendable {
    @usableFromInline package var row: UInt64
    /// The timestamp of a 410, in milliseconds since 1970-01-01 00:00 UTC, or `noTimestamp`.
    @usableFromInline package var timestamp: UInt64
    @usableFromInline package var tokenOffset: UInt32
    @usableFromInline package var reasonOffset: UInt32
    @usableFromInline package var tokenLength: UInt16
    @usableFromInline package var reasonLength: UInt16
    /// `httpStatus` or `rule`, depending on the outcome.
    @usableFromInline package var code: UInt16
    @usableFromInline package var attempts: Attempts
    /// The time from the hand-over of the request to its answer, in microseconds; only meaningful with an answer.
    @usableFromInline package var answerTime: UInt32
    @usableFromInline package var outcome: Outcome
    /// The number of bytes of the `CarriedFields`, which follow the reason.
    @usableFromInline package var carriedLength: UInt16
    /// Whether the row has an apns-id of its own, which precedes its token.
    @usableFromInline package var hasOwnID: Bool
    /// Whether the token is known to consist of lower-case hex digits.
    @usableFromInline package var isHex: Bool

    @inlinable
    package init(
        row: UInt64, timestamp: UInt64, token: (offset: UInt32, length: UInt16),
        reason: (offset: UInt32, length: UInt16),
        code: UInt16, attempts: Attempts, answerTime: UInt32, outcome: Outcome, hasOwnID: Bool, isHex: Bool
    ) {
        (self.row, self.timestamp, self.code, self.attempts) = (row, timestamp, code, attempts)
        self.answerTime = answerTime
        (tokenOffset, tokenLength) = token
        (reasonOffset, reasonLength) = reason
        (self.outcome, self.hasOwnID, self.isHex) = (outcome, hasOwnID, isHex)
        carriedLength = 0
    }

    @inlinable package static var noTimestamp: UInt64 { .max }

    /// The HTTP status of APNs's answer; 0 if there was none.
    @inlinable package var httpStatus: UInt16 { outcome == .invalid ? 0 : code }
    /// The code of the rule that an invalid row violates; 0 for other rows.
    var rule: UInt16 { outcome == .invalid ? code : 0 }
}
