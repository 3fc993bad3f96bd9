import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords

/// The results of the earlier sessions of a resumed run, from its ledger. They are read when they are asked for: one record of it,
/// of some ten kilobytes, at a time.
final class EarlierResults: Sendable {
    private struct State: ~Copyable {
        /// Nil after the last one.
        var outcomes: PastOutcomes?
        let batch = OutcomeBatch()

        mutating func next(_ stream: ResultStream) throws(CampaignError) -> ResultBatch? {
            guard try outcomes?.next(into: batch) == true else {
                outcomes = nil
                return nil
            }
            return stream.results(of: batch) { outcomes?.counts($0) == true }
        }
    }

    private let state: Guarded<State>
    private let stream: ResultStream
    private let fail: @Sendable (CampaignError) -> Void

    /// - Parameters:
    ///   - stream: Has the results of this session.
    ///   - fail: Receives why the ledger cannot be read. There are no further results then.
    init(
        _ outcomes: consuming PastOutcomes, like stream: ResultStream, fail: @escaping @Sendable (CampaignError) -> Void
    ) {
        state = Guarded(State(outcomes: outcomes))
        (self.stream, self.fail) = (stream, fail)
    }

    /// Returns the next batch with results; nil after the last one.
    func next() -> ResultBatch? {
        do throws(CampaignError) {
            while true {
                let batch = try state.withLock { (state) throws(CampaignError) in try state.next(stream) }
                guard let batch else { return nil }
                if !batch.isEmpty { return batch }
            }
        } catch {
            state.withLock { $0.outcomes = nil }
            fail(error)
            return nil
        }
    }
}
