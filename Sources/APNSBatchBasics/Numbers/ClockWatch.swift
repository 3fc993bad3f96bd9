/// Notices that the clock of the time of day was set, by comparing it with the monotonic clock. Its small corrections, as by
/// NTP, are not noticed.
package struct ClockWatch: Equatable, Sendable {
    /// The difference between the clocks at the last look, in seconds.
    private var difference: Int64?

    /// Smaller changes do not count, in seconds.
    private static let tolerance: Int64 = 60

    package init() {}

    /// Returns by how many seconds the clock was set since the last look; 0 if it was not.
    ///
    /// - Parameters:
    ///   - wallClock: The time of day, in seconds since 1970-01-01 00:00 UTC.
    ///   - monotonic: In nanoseconds.
    package mutating func look(wallClock: Int64, monotonic: UInt64) -> Int64 {
        let found = wallClock - Int64(monotonic / 1_000_000_000)
        let change = found - (difference ?? found)
        guard change.magnitude >= Self.tolerance else {
            difference = difference ?? found
            return 0
        }
        difference = found
        return change
    }
}
