import APNSBatchBasics
import APNSBatchRecords

/// A plan while it is made: threads add ranges as they end with them, and the file gets them in order.
///
/// At most as many ranges wait for one before them as the reader has chunks.
final class PlanDraft: Sendable {
    private struct State: ~Copyable {
        var writer: PlanWriter?
        /// Ranges that came before their turn, by their first rows.
        var waiting: [UInt64: PlanRange] = [:]
        var nextRow: UInt64 = 1
        var failure: StorageError?
    }

    private let state: Guarded<State>

    init(_ writer: consuming PlanWriter) { state = Guarded(State(writer: writer)) }

    /// Why the plan could not be written; nil if it could.
    var failure: StorageError? { state.withLock { $0.failure } }

    func add(_ range: PlanRange) {
        state.withLock { state in
            state.waiting[range.facts.firstRow] = range
            do throws(StorageError) {
                while state.failure == nil, let next = state.waiting.removeValue(forKey: state.nextRow) {
                    try state.writer?.append(next)
                    state.nextRow += UInt64(next.facts.rows)
                }
            } catch {
                state.failure = error
            }
        }
    }

    /// Ends the plan, after the last range.
    func finish(duplicates: DuplicateTally?) throws(StorageError) -> MadePlan {
        try state.withLock { (state) throws(StorageError) in
            if let failure = state.failure { throw failure }
            guard let writer = state.writer.take() else { preconditionFailure("a plan ends once") }
            let (facts, seal) = try writer.finish(duplicates: duplicates)
            return MadePlan(facts: facts, seal: seal)
        }
    }
}

/// What is known of a plan that was written to its end.
package struct MadePlan: Sendable, Equatable {
    package let facts: PlanFacts
    /// What the header of the ledger has of it.
    package let seal: PlanSeal
}
