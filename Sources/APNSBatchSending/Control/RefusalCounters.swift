import APNSBatchModel
import APNSBatchNotification
import Synchronization

/// Counts the answers of a lane other than 200 by their reason. The lane notes them, and other threads read the counts at any
/// moment; they only grow. No addition is atomic, because only the lane's thread writes.
package final class RefusalCounters: @unchecked Sendable {
    /// The counts by ``RefusalCounts/index(of:)``.
    private let counts: UnsafeMutablePointer<Atomic<UInt64>>

    package init() {
        counts = .allocate(capacity: RefusalCounts.size)
        for index in 0..<RefusalCounts.size { (counts + index).initialize(to: Atomic(0)) }
    }

    deinit {
        counts.deinitialize(count: RefusalCounts.size)
        counts.deallocate()
    }

    /// Counts an answer. Only the lane's thread may call it.
    package func note(_ answer: Answer) {
        let count = counts + RefusalCounts.index(of: answer)
        count.pointee.store(count.pointee.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    }

    /// Adds the answers until now to those of other lanes.
    package func add(to sums: inout RefusalCounts) {
        for index in sums.counts.indices { sums.counts[index] &+= counts[index].load(ordering: .relaxed) }
    }
}
