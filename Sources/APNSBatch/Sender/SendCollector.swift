import APNSBatchBasics
import APNSBatchModel
import APNSBatchSending
import Synchronization

/// Submits the notifications of a sequence, and collects their results until they are taken. Items are known by places, of
/// which there are as many as may be pending; who has the items keeps them by place. An item has its place until its result is
/// taken. Places and results change hands many at a time, so that an item costs one look at the lock.
@usableFromInline final class SendCollector: SubmissionOwner {
    @usableFromInline typealias Ended = (place: Int, result: Result<SendResult, SendError>)

    private struct State {
        /// The results that were not taken.
        var results: [Ended] = []
        /// The places without an item that the feeder does not have.
        var free: [Int]
        var isFed = false
        var failure: (any Error)?
        /// Tasks that wait for a result: one, unless several take them at the same time.
        var consumers: [WaitingTask] = []
        var feeder: WaitingTask?

        mutating func takeConsumers() -> [WaitingTask] {
            defer { consumers = [] }
            return consumers
        }
    }

    private let state: Guarded<State>
    private let isAbandoned = Atomic<Bool>(false)
    private let sender: Sender
    private let pending: Int
    private let timeout: Duration?

    @usableFromInline
    init(_ sender: Sender, pending: Int, timeout: Duration?) {
        (self.sender, self.pending, self.timeout) = (sender, pending, timeout)
        state = Guarded(State(free: Array((0..<pending).reversed())))
    }

    // MARK: Feeding

    /// Takes all free places, and waits if there is none. Returns false if the results are not awaited any more.
    ///
    /// - Parameter places: Must be empty.
    @usableFromInline
    func take(places: inout [Int]) async -> Bool {
        while true {
            if isAbandoned.load(ordering: .acquiring) { return false }
            state.withLock { swap(&$0.free, &places) }
            if !places.isEmpty { return true }
            await waitForPlace()
        }
    }

    private func waitForPlace() async {
        await withUnsafeContinuation { continuation in
            let isReady = state.withLock { state in
                if isAbandoned.load(ordering: .acquiring) || !state.free.isEmpty { return true }
                state.feeder = continuation
                return false
            }
            if isReady { continuation.resume() }
        }
    }

    /// Submits the notification of the item in a place.
    @usableFromInline
    func submit(_ notification: PushNotification, at place: Int) {
        let fields = sender.fields(of: notification)
        do throws(SendError) {
            let id = try sender.submit(fields, timeout, owner: self, tag: place)
            // Who abandons says so first and looks for submissions then: one of the two finds this one.
            if let id, isAbandoned.load(ordering: .acquiring) { sender.cancel(id) }
        } catch {
            submissionDidEnd(.failure(error), tag: place)?.resume()
        }
    }

    package func submissionDidEnd(_ end: consuming Mailbox.End, tag place: Int) -> WaitingTask? {
        state.withLock { state in
            state.results.append((place, end))
            return state.consumers.popLast()
        }
    }

    /// Says that no further item will be submitted.
    ///
    /// - Parameters:
    ///   - places: Those that were taken and have no item.
    ///   - error: What the sequence of items has thrown.
    @usableFromInline
    func finish(_ places: [Int], _ error: (any Error)?) {
        let consumers = state.withLock { state in
            state.free += places
            (state.isFed, state.failure) = (true, error)
            return state.takeConsumers()
        }
        for consumer in consumers { consumer.resume() }
    }

    /// Says that nothing will be submitted, because the sequence was iterated over before.
    @usableFromInline
    func refuse() {
        finish([], CampaignError(.alreadyRun, "the results were iterated over before, and nothing is sent again"))
    }

    // MARK: Taking

    /// Takes all results, and waits for the first. Returns false after the last one, or if they are not awaited any more.
    ///
    /// - Parameter results: Must be empty.
    @usableFromInline
    func take(_ results: inout [Ended]) async throws -> Bool {
        while true {
            let (isOver, failure) = state.withLock { state -> (Bool, (any Error)?) in
                if isAbandoned.load(ordering: .acquiring) { return (true, nil) }
                guard state.results.isEmpty else {
                    swap(&state.results, &results)
                    return (false, nil)
                }
                return isDone(state) ? (true, state.failure.take()) : (false, nil)
            }
            if let failure { throw failure }
            if isOver || !results.isEmpty { return !isOver }
            await waitForResult()
        }
    }

    /// Whether the result of each item was taken.
    private func isDone(_ state: borrowing State) -> Bool { state.isFed && state.free.count == pending }

    /// Frees the places of results that were taken.
    @usableFromInline
    func free(_ places: [Ended]) {
        let (feeder, consumers) = state.withLock { state in
            for (place, _) in places { state.free.append(place) }
            return (state.feeder.take(), isDone(state) ? state.takeConsumers() : [])
        }
        feeder?.resume()
        for consumer in consumers { consumer.resume() }
    }

    private func waitForResult() async {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let isReady = state.withLock { state in
                    if !state.results.isEmpty || isAbandoned.load(ordering: .acquiring) || isDone(state) { return true }
                    state.consumers.append(continuation)
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
        isAbandoned.store(true, ordering: .sequentiallyConsistent)
        let waiting = state.withLock { $0.takeConsumers() + [$0.feeder.take()].compactMap(\.self) }
        sender.cancelAll(of: self)
        for continuation in waiting { continuation.resume() }
    }
}
