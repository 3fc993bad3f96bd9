import APNSBatchBasics

/// The free buffers of a reader. The reader thread takes buffers, and any thread returns them.
final class ChunkPool: Sendable {
    private struct State {
        /// The free buffers. The one returned last is at the end and is taken first, because more of it is in the caches.
        var free: [Int]
        var isFree: [Bool]
        var isCancelled = false
    }

    private let state: Guarded<State>

    init(count: Int) {
        state = Guarded(State(free: Array((0..<count).reversed()), isFree: Array(repeating: true, count: count)))
    }

    /// Takes a free buffer, and waits if there is none; returns nil if cancelled.
    func take() -> Int? {
        let taken = state.wait { state -> Int?? in
            if state.isCancelled { return .some(nil) }
            guard let index = state.free.popLast() else { return nil }
            state.isFree[index] = false
            return .some(index)
        }
        return taken ?? nil
    }

    var freeCount: Int { state.withLock { $0.free.count } }

    /// Waits until `count` buffers are free; returns false if cancelled.
    func wait(for count: Int) -> Bool {
        state.wait { $0.isCancelled ? false : $0.free.count < count ? nil : true } ?? false
    }

    /// Returns a buffer to the pool.
    ///
    /// - Precondition: the buffer is in use.
    func release(_ index: Int) {
        state.change { state in
            precondition(!state.isFree[index], "a chunk was recycled twice")
            state.isFree[index] = true
            state.free.append(index)
        }
    }

    func cancel() { state.change { $0.isCancelled = true } }
}
