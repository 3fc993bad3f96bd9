import APNSBatchBasics

/// The queues that pass batches between lanes and the writer. A lane that finds no free batch waits for the writer.
package final class OutcomeExchange: Sendable {
    package let filled: BoundedQueue<OutcomeBatch>
    package let free: BoundedQueue<OutcomeBatch>

    /// - Parameters:
    ///   - lanes: The number of lanes. Each fills one batch while its others are in the queues.
    ///   - each: The number of batches of each lane.
    ///   - entries: The capacity of a batch, in outcomes.
    package init(lanes: Int, each: Int = 3, entries: Int = OutcomeBatch.entryCapacity) {
        let count = lanes * each
        filled = BoundedQueue(capacity: count)
        free = BoundedQueue(capacity: count)
        for _ in 0..<count { free.push(OutcomeBatch(entries: entries)) }
    }
}
