import APNSBatchBasics

/// The keys that all threads of a pass have found.
package final class SharedDigests: Sendable {
    private struct State: ~Copyable {
        var sorter: DigestSorter?
        /// Why rows are missing; nil if none are.
        var failure: StorageError?
    }

    private let state: Guarded<State>

    /// - Parameter sorter: It has no rows yet.
    package init(_ sorter: consuming sending DigestSorter) { state = Guarded(State(sorter: sorter)) }

    /// The number of rows that a thread gathers before it passes them on.
    package static let batch = 512

    /// Adds rows. After a failure they are dropped: `visit` throws it.
    package func add(_ rows: Span<KeyedRow>) {
        state.withLock { state in
            guard state.failure == nil else { return }
            do throws(StorageError) {
                try state.sorter?.add(rows)
            } catch {
                state.failure = error
                state.sorter = nil
            }
        }
    }

    /// See `DigestSorter.visit`. Called once, after the last `add`.
    package func visit(_ visit: (KeyedRow, _ first: KeyedRow?) -> Void) throws(StorageError) {
        let taken = try state.withLock { (state) throws(StorageError) -> sending DigestSorter? in
            if let failure = state.failure { throw failure }
            return state.sorter.take()
        }
        guard let sorter = taken else { return }
        try sorter.visit(visit)
    }
}
