import APNSBatchBasics

/// The batches of a run on their way to the program that takes its results, before they are free for the lanes again.
///
/// While batches wait here the lanes have fewer of them, and when none is free they take no further row. So a slow program
/// holds up the run, and memory does not grow.
package final class ResultStream: Sendable {
    private struct State {
        /// The batches that wait for the program, first in first out.
        var batches: [OutcomeBatch] = []
        /// The calls of `next` that wait for a batch.
        var waiting: [CheckedContinuation<OutcomeBatch?, Never>] = []
        /// Where batches go when the program has them.
        var free: BoundedQueue<OutcomeBatch>?
        /// Whether no batch follows.
        var isFinished = false
        /// Whether the program takes no further batch.
        var isAbandoned = false
    }

    /// The number of batches that may wait, besides those of the lanes.
    let batches: Int
    private let state = Guarded(State())

    private let source: ResultBatch.Source

    /// - Parameters:
    ///   - campaign: The identity of the campaign.
    ///   - columns: The number of carried columns.
    package init(batches: Int, campaign: (UInt64, UInt64), columns: Int) {
        self.batches = batches
        source = .init(campaign: campaign, columns: columns)
    }

    /// - Parameter free: Gets each batch after the program has it.
    func open(_ free: BoundedQueue<OutcomeBatch>) { state.withLock { $0.free = free } }

    /// Takes a recorded batch. Returns false if the program takes no results any more; the caller keeps the batch then.
    func take(_ batch: OutcomeBatch) -> Bool {
        let (isTaken, waiting) = state.withLock { state -> (Bool, CheckedContinuation<OutcomeBatch?, Never>?) in
            guard !state.isAbandoned else { return (false, nil) }
            guard !state.waiting.isEmpty else {
                state.batches.append(batch)
                return (true, nil)
            }
            return (true, state.waiting.removeFirst())
        }
        waiting?.resume(returning: batch)
        return isTaken
    }

    /// Tells the program that no batch follows. It still gets those that wait.
    package func finish() {
        let waiting = state.withLock { state in
            state.isFinished = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for call in waiting { call.resume(returning: nil) }
    }

    /// Ends the stream, because the program takes no further results: batches are free as soon as they are recorded.
    package func abandon() {
        let (batches, waiting, free) = state.withLock { state in
            state.isAbandoned = true
            defer { (state.batches, state.waiting) = ([], []) }
            return (state.batches, state.waiting, state.free)
        }
        for call in waiting { call.resume(returning: nil) }
        for batch in batches { Self.release(batch, to: free) }
    }

    /// Returns the results of the next batch, and waits for it; nil at the end, and when the task is cancelled, which also
    /// ends the stream.
    package func next() async -> ResultBatch? {
        let batch = await withTaskCancellationHandler {
            await withCheckedContinuation { call in
                let batch = state.withLock { state -> OutcomeBatch?? in
                    if !state.batches.isEmpty { return state.batches.removeFirst() }
                    if state.isFinished || state.isAbandoned { return .some(nil) }
                    state.waiting.append(call)
                    return .none
                }
                if let batch { call.resume(returning: batch) }
            }
        } onCancel: {
            abandon()
        }
        guard let batch else { return nil }
        let results = ResultBatch(batch, of: source)
        Self.release(batch, to: state.withLock { $0.free })
        return results
    }

    /// Returns the results of a batch that did not come through this stream, without those whose outcomes do not count.
    package func results(of batch: OutcomeBatch, where counts: (Outcome) -> Bool) -> ResultBatch {
        ResultBatch(batch, of: source, where: counts)
    }

    private static func release(_ batch: OutcomeBatch, to free: BoundedQueue<OutcomeBatch>?) {
        batch.removeAll()
        free?.push(batch)
    }
}
