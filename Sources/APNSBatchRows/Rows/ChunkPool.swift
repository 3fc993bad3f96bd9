import APNSBatchBasics

/// Which buffers are free. The reader's thread takes them, any thread gives them back.
final class ChunkPool: Sendable {
    private struct State {
        /// The buffer that was given back last stands last, because it is the warmest in the caches.
        var free: [Int]
        var isFree: [Bool]
        var isCancelled = false
    }

    private let state: Guarded<State>

    init(count: Int) {
        state = Guarded(State(free: Array((0..<count).reversed()), isFree: Array(repeating: true, count: count)))
    }

    /// Waits while no buffer is free; nil when cancelled.
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

    /// Waits until so many are free; false when cancelled.
    func wait(for count: Int) -> Bool {
        state.wait { $0.isCancelled ? false : $0.free.count < count ? nil : true } ?? false
    }

    /// - Precondition: the buffer is out.
    func release(_ index: Int) {
        state.change { state in
            precondition(!state.isFree[index], "a chunk was recycled twice")
            state.isFree[index] = true
            state.free.append(index)
        }
    }

    func cancel() { state.change { $0.isCancelled = true } }
}
