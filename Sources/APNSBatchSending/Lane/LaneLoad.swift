/// How much of the time the lane's thread is at work. What a busy lane gains by more connections is more memory.
///
/// Processor time is what counts: a lane that waits for a core of a machine with too few passes for one that rests.
struct LaneLoad {
    /// Nanoseconds of processor time of the thread that asks.
    private let worked: @Sendable () -> UInt64
    private var since: UInt64
    private var workedThen: UInt64
    /// Whether the thread had next to no rest in the last interval.
    private(set) var isBusy = false

    /// Nanoseconds.
    private static let interval: UInt64 = 100_000_000
    private static let shareOfBusy = 0.8

    init(now: UInt64, worked: @escaping @Sendable () -> UInt64) {
        self.worked = worked
        since = now
        workedThen = worked()
    }

    /// At the end of an interval.
    mutating func look(now: UInt64) {
        guard now - since >= Self.interval else { return }
        let workedNow = worked()
        // A lane may be made on another thread than it runs on.
        let used = workedNow >= workedThen ? workedNow - workedThen : 0
        isBusy = Double(used) >= Self.shareOfBusy * Double(now - since)
        (since, workedThen) = (now, workedNow)
    }
}
