/// Spreads the rows that are left evenly over the time that is left, for ``Campaign/RateLimit/spread``. One lane of a run
/// has it, and computes the limit anew every second.
package struct RowSpread {
    private let rate: RunRate
    /// The start of the campaign, in seconds since the epoch.
    private let start: UInt64
    /// Returns the number of rows without an outcome, or nil if it is not known.
    private let rowsLeft: @Sendable () -> UInt64?
    private var nextLook: UInt64 = 0

    /// In nanoseconds.
    private static let interval: UInt64 = 1_000_000_000

    init(_ rate: RunRate, start: UInt64, rowsLeft: @escaping @Sendable () -> UInt64?) {
        (self.rate, self.start, self.rowsLeft) = (rate, start, rowsLeft)
    }

    /// - Parameters:
    ///   - now: the monotonic time in nanoseconds.
    ///   - wallClock: the time in seconds since the epoch.
    mutating func look(now: UInt64, wallClock: UInt64) {
        guard now >= nextLook else { return }
        nextLook = now + Self.interval
        guard let spread = rate.limit.spread else { return }
        rate.spread(rows: rowsLeft(), over: Double(start) + spread / .seconds(1) - Double(wallClock))
    }
}
