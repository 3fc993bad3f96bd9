import APNSBatchBasics

/// Spreads the rows that are left evenly over the time that is left, for ``Campaign/RateLimit/spread``. One lane of a run
/// has it, and computes the limit anew every second.
///
/// The time of day only determines how much of the spread earlier sessions used up. From then on the monotonic clock counts, because
/// the other one may be set during the run.
package struct RowSpread {
    private let rate: RunRate
    /// The seconds that had passed since the start of the campaign when this session began.
    private let passed: Double
    /// When this session began, by the monotonic clock in nanoseconds; nil before the first look.
    private var began: UInt64?
    /// Returns the number of rows without an outcome, or nil if it is not known.
    private let rowsLeft: @Sendable () -> UInt64?
    private var nextLook: UInt64 = 0

    /// In nanoseconds.
    private static let interval: UInt64 = 1_000_000_000

    /// - Parameters:
    ///   - start: The start of the campaign, in seconds since the epoch.
    ///   - wallClock: The time of day, in seconds since the epoch.
    init(_ rate: RunRate, start: UInt64, wallClock: UInt64, rowsLeft: @escaping @Sendable () -> UInt64?) {
        (self.rate, self.rowsLeft) = (rate, rowsLeft)
        passed = wallClock > start ? Double(wallClock - start) : 0
    }

    /// - Parameter now: the monotonic time in nanoseconds.
    mutating func look(now: UInt64) {
        let began = began ?? now
        self.began = began
        guard now >= nextLook else { return }
        nextLook = now + Self.interval
        guard let spread = rate.limit.spread else { return }
        rate.spread(rows: rowsLeft(), over: spread / .seconds(1) - passed - Double(now - began) / 1e9)
    }
}
