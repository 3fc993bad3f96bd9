import APNSBatchBasics
import APNSBatchModel
import APNSBatchSending

/// Submits the notifications of a sequence, and collects their results until they are taken. Items are known by places, of
/// which there are as many as may be pending; who has the items keeps them by place. An item has its place until its result is
/// taken.
@usableFromInline final class SendCollector: SubmissionOwner {
    @usableFromInline typealias Ended = (place: Int, result: Result<SendResult, SendError>)

    private struct State {
        /// The results that were not taken.
        var results: [Ended] = []
        /// The ids of the items that were submitted and have not ended, by place; nil while the id is not known.
        var open: [UInt64?]
        var free: [Int]
        var isFed = false
        var isAbandoned = false
        var failure: (any Error)?
        var consumer: UnsafeContinuation<Void, Never>?
        var feeder: UnsafeContinuation<Void, Never>?

        init(pending: Int) {
            open = Array(repeating: nil, count: pending)
            free = Array((0..<pending).reversed())
        }

        /// Whether the result of each item was taken.
        var isDone: Bool { isFed && free.count == open.count }
    }

    private let state: Guarded<State>
    private let sender: Sender
    private let timeout: Duration?

    @usableFromInline
    init(_ sender: Sender, pending: Int, timeout: Duration?) {
        (self.sender, self.timeout) = (sender, timeout)
        state = Guarded(State(pending: pending))
    }

    // MARK: Feeding

    /// Takes a place for an item, and waits for one if there is none. Returns nil if the results are not awaited any more.
    @usableFromInline
    func place() async -> Int? {
        while true {
            let (place, isOver) = state.withLock { state -> (Int?, Bool) in
                state.isAbandoned ? (nil, true) : (state.free.popLast(), false)
            }
            if isOver || place != nil { return place }
            await withUnsafeContinuation { continuation in
                let isReady = state.withLock { state in
                    if state.isAbandoned || !state.free.isEmpty { return true }
                    state.feeder = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        }
    }

    /// Submits the notification of the item in a place.
    @usableFromInline
    func submit(_ notification: PushNotification, at place: Int) {
        do throws(SendError) {
            guard let id = try sender.submit(notification, timeout, owner: self, tag: place) else { return }
            let isAbandoned = state.withLock { state in
                state.open[place] = id
                return state.isAbandoned
            }
            if isAbandoned { sender.cancel(id) }
        } catch {
            submissionDidEnd(.failure(error), tag: place)
        }
    }

    package func submissionDidEnd(_ end: Mailbox.End, tag place: Int) {
        let consumer = state.withLock { state -> UnsafeContinuation<Void, Never>? in
            state.results.append((place, end))
            return state.consumer.take()
        }
        consumer?.resume()
    }

    /// Says that no further item will be submitted.
    ///
    /// - Parameter error: What the sequence of items has thrown.
    @usableFromInline
    func finish(_ error: (any Error)?) {
        let consumer = state.withLock { state in
            (state.isFed, state.failure) = (true, error)
            return state.consumer.take()
        }
        consumer?.resume()
    }

    // MARK: Taking

    /// Frees places, and takes all results, of which there is at least one. Returns false after the last one, or if they are
    /// not awaited any more.
    ///
    /// - Parameter results: Must be empty.
    @usableFromInline
    func take(_ results: inout [Ended]) async throws -> Bool {
        while true {
            let (isOver, failure) = state.withLock { state -> (Bool, (any Error)?) in
                if state.isAbandoned { return (true, nil) }
                guard state.results.isEmpty else {
                    swap(&state.results, &results)
                    return (false, nil)
                }
                return state.isDone ? (true, state.failure.take()) : (false, nil)
            }
            if let failure { throw failure }
            if isOver || !results.isEmpty { return !isOver }
            await waitForResult()
        }
    }

    /// Frees the places of results that were taken.
    @usableFromInline
    func free(_ places: [Ended]) {
        let feeder = state.withLock { state -> UnsafeContinuation<Void, Never>? in
            for (place, _) in places {
                state.open[place] = nil
                state.free.append(place)
            }
            return state.feeder.take()
        }
        feeder?.resume()
    }

    private func waitForResult() async {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let isReady = state.withLock { state in
                    if !state.results.isEmpty || state.isAbandoned || state.isDone { return true }
                    state.consumer = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            abandon()
        }
    }

    /// Cancels what is pending. Later results are dropped.
    @usableFromInline
    func abandon() {
        let (open, waiting) = state.withLock { state in
            state.isAbandoned = true
            return (state.open, [state.consumer.take(), state.feeder.take()])
        }
        for id in open { id.map(sender.cancel) }
        for continuation in waiting { continuation?.resume() }
    }
}
