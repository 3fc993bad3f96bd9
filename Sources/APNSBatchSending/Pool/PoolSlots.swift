/// Decides when a pool may open its next connection.
///
/// Each slot of the pool has delays of its own: after a failure it tries the host's next address without a delay, and after
/// all of them waits with exponential back-off and jitter. Other slots are not affected.
struct PoolSlots: Equatable {
    private struct Slot: Equatable {
        /// The number of consecutive connections that were not usable.
        var failures = 0
        /// The time before which it opens no connection.
        var opensAt: UInt64 = 0
    }

    private var slots: [Slot]
    /// The time before which no connection is opened, except for successors without spacing.
    private var nextOpenAt: UInt64 = 0
    /// The time before which no connection can be opened for a reason that is not a failure: no new provider token may be
    /// made yet.
    private(set) var excusedUntil: UInt64 = 0

    init(count: Int) { slots = Array(repeating: Slot(), count: count) }

    var haveFailures: Bool { slots.contains { $0.failures > 0 } }

    func isSpaced(now: UInt64) -> Bool { now < nextOpenAt }

    mutating func space(until: UInt64) { nextOpenAt = until }

    mutating func excuse(until: UInt64) { (nextOpenAt, excusedUntil) = (until, until) }

    func vacant(of target: Int, now: UInt64, isTaken: (Int) -> Bool) -> Int? {
        (0..<target).first { now >= slots[$0].opensAt && !isTaken($0) }
    }

    /// Notes that a connection of this slot is usable.
    mutating func succeeded(_ slot: Int) { slots[slot].failures = 0 }

    /// Forgets all failures and delays.
    mutating func forget() { self = PoolSlots(count: slots.count) }

    /// Notes that a connection of this slot was not usable, and returns the number of consecutive ones.
    mutating func failed(
        _ slot: Int, addresses: Int, longest: UInt64, now: UInt64, jitter: Double, _ limits: ConnectionPool.Limits
    ) -> Int {
        slots[slot].failures += 1
        let rounds = slots[slot].failures / max(1, addresses)
        // No pause while there are addresses left to try; then from 0.5 to 1 of the full one.
        let full = rounds > 0 ? min(limits.backoffLargest, limits.backoffFirst << UInt64(min(rounds - 1, 20))) : 0
        slots[slot].opensAt = now + min(longest, UInt64(Double(full) * (0.5 + jitter / 2)))
        return slots[slot].failures
    }
}
