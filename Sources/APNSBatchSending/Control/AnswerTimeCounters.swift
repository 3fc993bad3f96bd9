import APNSBatchModel
import Synchronization

/// Counts the answers of a lane by their time. The lane notes every answer, and other threads read the counts at any moment:
/// they only grow, so that the answers of an interval are the difference of two readings.
///
/// There is no lock, and no addition is atomic, because only the lane's thread writes: for it, an answer is one increment.
package final class AnswerTimeCounters: Sendable {
    /// The number of answers by the index of their ``AnswerBucket``.
    private let buckets = AtomicSlots(count: AnswerBucket.count)
    /// The longest time of all answers, in microseconds.
    private let longest = Atomic<UInt32>(0)

    package init() {}

    /// Counts an answer that took `microseconds`. Only the lane's thread may call it.
    @inline(__always)
    package func note(_ microseconds: UInt32) {
        // A reader that sees the count then sees its time as well.
        if microseconds > longest.load(ordering: .relaxed) { longest.store(microseconds, ordering: .relaxed) }
        buckets.increment(AnswerBucket.index(of: microseconds))
    }

    /// The answers until now.
    package var counts: AnswerTimeCounts {
        var counts = AnswerTimeCounts()
        add(to: &counts)
        return counts
    }

    /// Adds the answers until now to those of other lanes.
    package func add(to counts: inout AnswerTimeCounts) {
        let first = unsafe buckets.address(of: 0)
        unsafe counts.buckets.withUnsafeMutableBufferPointer { sums in
            for index in 0..<AnswerBucket.count { unsafe sums[index] &+= first[index].load(ordering: .acquiring) }
        }
        counts.longest = max(counts.longest, longest.load(ordering: .relaxed))
    }
}
