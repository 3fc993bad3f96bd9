import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords

/// What operators changed in a run, in all its sessions. Changes are recorded in the ledger while it is open. Any thread may
/// use it.
final class RunChanges: Sendable {
    private struct State {
        var changes: [RunChange]
        /// The number of changes that the ledger has.
        var recorded: Int
        var ledger: RunLedger?
    }

    private let state: Guarded<State>
    /// Receives messages for the operator.
    private let warn: @Sendable (String) -> Void

    /// - Parameter earlier: The changes of earlier sessions, which the ledger has.
    init(after earlier: [RunChange], warn: @escaping @Sendable (String) -> Void) {
        state = Guarded(State(changes: earlier, recorded: earlier.count))
        self.warn = warn
    }

    var all: [RunChange] { state.withLock { $0.changes } }

    func add(_ text: String, at time: UInt64) {
        state.withLock { state in
            state.changes.append(RunChange(time: time, text: text))
            record(&state)
        }
    }

    /// Records the changes that were made before the session began, and further ones from now on.
    func open(_ ledger: RunLedger) {
        state.withLock { state in
            state.ledger = ledger
            record(&state)
        }
    }

    /// Records no further changes: the ledger is about to end.
    func close() { state.withLock { $0.ledger = nil } }

    /// A change that cannot be recorded is in the summary only.
    private func record(_ state: inout State) {
        guard let ledger = state.ledger else { return }
        while state.recorded < state.changes.count {
            let change = state.changes[state.recorded]
            state.recorded += 1
            do throws(StorageError) {
                try ledger.record(change)
            } catch {
                warn("the change \(change.text.quoted) is not recorded: \(error)")
            }
        }
    }
}
