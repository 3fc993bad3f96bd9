/// The number of rows by outcome, and the number of requests made for them.
@usableFromInline package struct Tally: Sendable, Equatable {
    @usableFromInline package var outcomes: OutcomeCounts = [:]
    @usableFromInline package var attempts: UInt64 = 0
    /// The number of rows that were sent again although an earlier request may have arrived.
    @usableFromInline package var resent: UInt64 = 0

    package init(outcomes: OutcomeCounts = [:], attempts: UInt64 = 0, resent: UInt64 = 0) {
        (self.outcomes, self.attempts, self.resent) = (outcomes, attempts, resent)
    }

    package var rows: UInt64 { outcomes.sum }

    @inlinable
    package subscript(outcome: Outcome) -> UInt64 {
        get { outcomes[outcome] }
        set { outcomes[outcome] = newValue }
    }

    @inlinable @inline(__always)
    package mutating func count(_ outcome: Outcome, attempts: Attempts) {
        self[outcome] += 1
        self.attempts += UInt64(attempts.count)
        resent += attempts.isResent ? 1 : 0
    }

    package static func + (left: Tally, right: Tally) -> Tally {
        var sum = left
        sum.outcomes += right.outcomes
        sum.attempts += right.attempts
        sum.resent += right.resent
        return sum
    }
}
