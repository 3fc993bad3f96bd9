import APNSBatchModel
import APNSBatchNotification

/// The fixed part of a row's outcome, in 16 bytes.
///
///     row (40 bits), attempts (15), sent again after it may have arrived (1), outcome (8)
///     status or rule (16), known reason (8), length of token (12), length of reason (12), flags (4), length of what is carried (12)
struct LedgerEntry: Equatable {
    var row: UInt64
    var attempts: Attempts
    var outcome: Outcome
    /// The HTTP status; the code of the violated rule for an invalid row; 0 if APNs did not answer.
    var code: UInt16
    /// The reason, if it is in the table; its text is then omitted.
    var reason: KnownReason?
    /// The length in bytes in the record's texts, that is, half the digits of a packed token.
    var tokenLength = 0
    var reasonLength = 0
    var carriedLength = 0
    /// Whether the token's hexadecimal digits are packed, two in a byte.
    var isPacked = false
    var hasOwnID = false
    var hasTimestamp = false

    init(row: UInt64, attempts: Attempts, outcome: Outcome, code: UInt16) {
        self.row = row
        self.attempts = attempts
        self.outcome = outcome
        self.code = code
    }

    private static let lengthMax = 0xFFF

    @inline(__always)
    var words: (UInt64, UInt64) {
        precondition(row < LedgerRange.rowMax && tokenLength <= Self.lengthMax && reasonLength <= Self.lengthMax)
        assert(carriedLength <= Self.lengthMax, "what a row carries has a length of 12 bits")
        let first = row | UInt64(attempts.bits) << 40 | UInt64(outcome.rawValue) << 56
        let flags: UInt64 = (isPacked ? 1 : 0) | (hasOwnID ? 2 : 0) | (hasTimestamp ? 4 : 0)
        let known = reason.map { UInt64($0.rawValue) + 1 } ?? 0
        return (
            first,
            UInt64(code) | known << 16 | UInt64(tokenLength) << 24 | UInt64(reasonLength) << 36 | flags << 48
                | UInt64(carriedLength) << 52
        )
    }

    /// Returns nil if the words contain a code or a flag that only a later version can have written.
    init?(_ first: UInt64, _ second: UInt64) {
        guard let outcome = Outcome(rawValue: UInt8(truncatingIfNeeded: first >> 56)), second >> 51 & 1 == 0 else {
            return nil
        }
        row = first & (LedgerRange.rowMax - 1)
        attempts = Attempts(bits: UInt16(truncatingIfNeeded: first >> 40))
        self.outcome = outcome
        code = UInt16(truncatingIfNeeded: second)
        let known = UInt8(truncatingIfNeeded: second >> 16)
        if known > 0 {
            guard let known = KnownReason(rawValue: known - 1) else { return nil }
            reason = known
        }
        tokenLength = Int(second >> 24) & Self.lengthMax
        reasonLength = Int(second >> 36) & Self.lengthMax
        carriedLength = Int(second >> 52)
        isPacked = second >> 48 & 1 != 0
        hasOwnID = second >> 48 & 2 != 0
        hasTimestamp = second >> 48 & 4 != 0
    }

    /// The length of the entry's texts, in bytes.
    var textLength: Int {
        tokenLength + reasonLength + carriedLength + (hasOwnID ? MessageID.length : 0) + (hasTimestamp ? 8 : 0)
    }
}
