import APNSBatchModel
import APNSBatchNotification
import Synchronization

/// Counts the answers of a lane other than 200 by their reason. The lane notes them, and other threads read the counts at any
/// moment; they only grow. No addition is atomic, because only the lane's thread writes.
package final class RefusalCounters: Sendable {
    /// The counts by ``RefusalCounts/index(of:)``.
    private let counts = AtomicSlots(count: RefusalCounts.size)

    package init() {}

    /// Counts an answer. Only the lane's thread may call it.
    package func note(_ answer: Answer) {
        counts.increment(RefusalCounts.index(of: answer))
    }

    /// Adds the answers until now to those of other lanes.
    package func add(to sums: inout RefusalCounts) {
        for index in sums.counts.indices {
            unsafe sums.counts[index] &+= counts.address(of: index).pointee.load(ordering: .relaxed)
        }
    }
}
