import APNSBatchModel
import APNSBatchNotification
import Synchronization

/// Counts the answers of a lane other than 200 by their reason. The lane notes them, and other threads read the counts at any
/// moment; they only grow. No addition is atomic, because only the lane's thread writes.
@safe package final class RefusalCounters: @unchecked Sendable {
    /// The counts by ``RefusalCounts/index(of:)``.
    private let counts: UnsafeMutablePointer<Atomic<UInt64>>

    package init() {
        unsafe counts = .allocate(capacity: RefusalCounts.size)
        for index in 0..<RefusalCounts.size { unsafe (counts + index).initialize(to: Atomic(0)) }
    }

    deinit {
        unsafe counts.deinitialize(count: RefusalCounts.size)
        unsafe counts.deallocate()
    }

    /// Counts an answer. Only the lane's thread may call it.
    package func note(_ answer: Answer) {
        let count = unsafe counts + RefusalCounts.index(of: answer)
        unsafe count.pointee.store(count.pointee.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    }

    /// Adds the answers until now to those of other lanes.
    package func add(to sums: inout RefusalCounts) {
        for index in sums.counts.indices { unsafe sums.counts[index] &+= counts[index].load(ordering: .relaxed) }
    }
}
