import Synchronization

/// Counters of a fixed number, each 0 at first.
///
/// Safe to share between threads, because every element is an atomic, and their number is constant.
@safe struct AtomicSlots: ~Copyable, @unchecked Sendable {
    private let slab: Slab<Atomic<UInt64>>

    init(count: Int) {
        var slab = Slab<Atomic<UInt64>>(capacity: count)
        for _ in 0..<count { slab.append(Atomic(0)) }
        self.slab = slab
    }

    /// Returns the address of a counter, which is valid as long as this value. Traps if there is no such counter.
    @inline(__always)
    func address(of index: Int) -> UnsafeMutablePointer<Atomic<UInt64>> { unsafe slab.address(of: index) }

    /// Adds 1 for the only thread that writes to the counter. What the thread has written before is seen by those that see the sum.
    @inline(__always)
    func increment(_ index: Int) {
        let counter = unsafe address(of: index)
        unsafe counter.pointee.store(counter.pointee.load(ordering: .relaxed) &+ 1, ordering: .releasing)
    }
}
