/// When a pool may open its next connection.
///
/// Each slot of the pool tries for itself: a connection that fails has its own slot wait, at the host's next address not at
/// all and after all of them with exponential back-off and jitter, and holds up no other.
struct Places: Equatable {
    private struct Slot: Equatable {
        /// Connections in a row that were of no use.
        var failures = 0
        /// It opens none before then.
        var opensAt: UInt64 = 0
    }

    private var slots: [Slot]
    /// No connection is opened before then, but for successors of those that served well.
    private var nextOpenAt: UInt64 = 0
    /// No connection can be opened before then, and nobody is to blame: a provider token may not be minted yet.
    private(set) var excusedUntil: UInt64 = 0

    init(count: Int) { slots = Array(repeating: Slot(), count: count) }

    var haveFailures: Bool { slots.contains { $0.failures > 0 } }

    func isSpaced(now: UInt64) -> Bool { now < nextOpenAt }

    mutating func space(until: UInt64) { nextOpenAt = until }

    mutating func excuse(until: UInt64) { (nextOpenAt, excusedUntil) = (until, until) }

    func vacant(of target: Int, now: UInt64, isTaken: (Int) -> Bool) -> Int? {
        (0..<target).first { now >= slots[$0].opensAt && !isTaken($0) }
    }

    /// A connection of this slot is of use.
    mutating func succeeded(_ slot: Int) { slots[slot].failures = 0 }

    /// What the slots met with says nothing of what comes now.
    mutating func forget() { self = Places(count: slots.count) }

    /// A connection of this slot was of no use. Gives how many in a row were not.
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
