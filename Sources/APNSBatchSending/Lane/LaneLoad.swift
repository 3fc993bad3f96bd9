/// Measures whether the thread of a lane is busy. A busy lane does not gain by more connections; they would only take
/// memory.
///
/// The measure is processor time, so a lane that waits for a core of an overloaded machine counts as idle.
struct LaneLoad {
    /// Returns the processor time that the calling thread has used, in nanoseconds.
    private let worked: @Sendable () -> UInt64
    private var since: UInt64
    private var workedThen: UInt64
    /// Whether the thread worked for at least 80 % of the last interval.
    private(set) var isBusy = false

    /// In nanoseconds.
    private static let interval: UInt64 = 100_000_000
    private static let shareOfBusy = 0.8

    init(now: UInt64, worked: @escaping @Sendable () -> UInt64) {
        self.worked = worked
        since = now
        workedThen = worked()
    }

    /// Evaluates the interval, if it has ended.
    mutating func look(now: UInt64) {
        guard now - since >= Self.interval else { return }
        let workedNow = worked()
        // The lane may have been made on another thread than it runs on.
        let used = workedNow >= workedThen ? workedNow - workedThen : 0
        isBusy = Double(used) >= Self.shareOfBusy * Double(now - since)
        (since, workedThen) = (now, workedNow)
    }
}
