import APNSBatchBasics

/// The batches that travel between lanes and writer. A lane that finds none free waits for the writer.
package final class OutcomeExchange: Sendable {
    package let filled: BoundedQueue<OutcomeBatch>
    package let free: BoundedQueue<OutcomeBatch>

    /// - Parameters:
    ///   - lanes: each lane has one batch in hand and the others on the way.
    ///   - each: batches of a lane.
    ///   - entries: outcomes that a batch holds.
    package init(lanes: Int, each: Int = 3, entries: Int = OutcomeBatch.entryCapacity) {
        let count = lanes * each
        filled = BoundedQueue(capacity: count)
        free = BoundedQueue(capacity: count)
        for _ in 0..<count { free.push(OutcomeBatch(entries: entries)) }
    }
}
