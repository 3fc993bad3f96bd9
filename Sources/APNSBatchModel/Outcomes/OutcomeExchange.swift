import APNSBatchBasics

/// The queues that pass batches between lanes and the writer. A lane that finds no free batch waits for the writer.
package final class OutcomeExchange: Sendable {
    package let filled: BoundedQueue<OutcomeBatch>
    package let free: BoundedQueue<OutcomeBatch>
    /// Where recorded batches go before they are free again; nil if no program takes the results.
    private let results: ResultStream?
    /// Takes batches on the lane's thread, in place of a writer; nil in a campaign.
    package let receiver: (@Sendable (OutcomeBatch) -> Void)?
    private let lanes: Int
    private let entries: Int

    /// - Parameters:
    ///   - lanes: The number of lanes. Each fills one batch while its others are in the queues.
    ///   - each: The number of batches of each lane.
    ///   - entries: The capacity of a batch, in outcomes.
    ///   - results: Takes the batches when they are recorded.
    package init(
        lanes: Int, each: Int = 3, entries: Int = OutcomeBatch.entryCapacity, results: ResultStream? = nil
    ) {
        let count = lanes * each + (results?.batches ?? 0)
        (self.results, self.lanes, self.entries, receiver) = (results, lanes, entries, nil)
        filled = BoundedQueue(capacity: count)
        free = BoundedQueue(capacity: count, newestFirst: true)
        for _ in 0..<count { free.push(OutcomeBatch(entries: entries)) }
        results?.open(free)
    }

    /// Creates an exchange in which each lane passes its only batch to a function, on its own thread.
    ///
    /// - Parameter receiver: Takes the outcomes of a batch, which is empty again after the call.
    package init(lanes: Int, receiver: @escaping @Sendable (OutcomeBatch) -> Void) {
        (results, self.lanes, entries, self.receiver) = (nil, lanes, OutcomeBatch.entryCapacity, receiver)
        filled = BoundedQueue(capacity: 1)
        free = BoundedQueue(capacity: lanes)
        for _ in 0..<lanes { free.push(OutcomeBatch()) }
    }

    /// Returns how many outcomes a lane can record in batches that are free, without a wait for the program that takes the
    /// results. There is no limit if there is no such program, because the writer is always soon done.
    package func room() -> Int { results == nil ? .max / 2 : free.count / lanes * entries }

    /// Returns a batch that is free, and waits for one, unless the lanes are to wait no longer.
    package func freeBatch() -> OutcomeBatch { free.pop() ?? OutcomeBatch(entries: entries) }

    /// Lets lanes make new batches as soon as none is free: the run ends, and the program that takes the results, which has the
    /// others, may never come back to them. Lanes take no more rows then, so memory grows by the outcomes of those that they have.
    package func waitNoLonger() { free.close() }

    /// Passes on a batch whose outcomes are recorded: to the program that takes the results, or to the lanes.
    package func release(_ batch: OutcomeBatch) {
        if let results, results.take(batch) { return }
        batch.removeAll()
        free.push(batch)
    }
}
