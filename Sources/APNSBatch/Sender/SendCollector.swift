import APNSBatchBasics
import APNSBatchModel
import APNSBatchSending
import Synchronization

/// Submits the notifications of a sequence, and collects their results until they are taken. Items are known by places;
/// there are as many as may be pending; the owner of the items keeps them by place. An item has its place until its result and those
/// that came with it are taken. Places change hands many at a time, so that the feeder is seldom woken. Results and the tasks that wait
/// for them are under one lock, so that no result is left to a task that has gone.
@usableFromInline final class SendCollector: SubmissionOwner {
    @usableFromInline typealias Ended = (place: Int, result: Result<SendResult, SendError>)

    @safe private struct State {
        /// The results that have come in since the last of ``batch`` was taken.
        var results: [Ended] = []
        /// The results that are being taken, in order. Their places become free together.
        var batch: [Ended] = []
        /// The number of them that were taken.
        var taken = 0
        /// The places without an item that the feeder does not have.
        var free: [Int]
        var isFed = false
        var failure: (any Error)?
        /// Tasks that wait for a result: one, unless several take them at the same time.
        var consumers: [WaitingTask] = unsafe []
        var feeder: WaitingTask?

        /// Frees the places of a batch when all its results were taken.
        mutating func freeBatch() {
            for (place, _) in batch { free.append(place) }
            batch.removeAll(keepingCapacity: true)
            taken = 0
        }

        mutating func takeConsumers() -> [WaitingTask] {
            defer { unsafe consumers = unsafe [] }
            return unsafe consumers
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
        state = unsafe Guarded(State(free: Array((0..<pending).reversed())))
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
        await unsafe withUnsafeContinuation { continuation in
            let isReady = state.withLock { state in
                if isAbandoned.load(ordering: .acquiring) || !state.free.isEmpty { return true }
                unsafe state.feeder = unsafe continuation
                return false
            }
            if isReady { unsafe continuation.resume() }
        }
    }

    /// Submits the notification of the item in a place.
    @usableFromInline
    func submit(_ notification: PushNotification, at place: Int) {
        let fields = sender.fields(of: notification)
        do throws(SendError) {
            let id = try sender.submit(fields, timeout, owner: self, tag: place)
            // Abandoning is noted first, and then submissions are searched: one of the two finds this one.
            if let id, isAbandoned.load(ordering: .acquiring) { sender.cancel(id) }
        } catch {
            unsafe submissionDidEnd(.failure(error), tag: place)?.resume()
        }
    }

    package func submissionDidEnd(_ end: consuming Mailbox.End, tag place: Int) -> WaitingTask? {
        unsafe state.withLock { state in
            state.results.append((place, end))
            return unsafe state.consumers.popLast()
        }
    }

    /// Says that no further item will be submitted.
    ///
    /// - Parameters:
    ///   - places: Those that were taken and have no item.
    ///   - error: What the sequence of items has thrown.
    @usableFromInline
    func finish(_ places: [Int], _ error: (any Error)?) {
        let consumers = unsafe state.withLock { state in
            state.free += places
            (state.isFed, state.failure) = (true, error)
            return unsafe state.takeConsumers()
        }
        unsafe consumers.resumeAll()
    }

    /// Says that nothing will be submitted, because the sequence was iterated over before.
    @usableFromInline
    func refuse() {
        finish([], CampaignError(.alreadyRun, "the results were iterated over before, and nothing is sent again"))
    }

    // MARK: Taking

    /// What a look at the results came to.
    private enum Look<Item> {
        case found(Item, Result<SendResult, SendError>)
        case nothingYet
        /// No further result comes. The error is that of the sequence of items, which is given to one look.
        case over((any Error)?)
    }

    /// Takes the next result with its item, and waits for it. Returns nil after the last one, or if they are not awaited any more.
    ///
    /// - Parameter take: Takes the item from its place.
    @usableFromInline
    func next<Item: Sendable>(
        _ take: (Int) -> Item
    ) async throws -> (item: Item, result: Result<SendResult, SendError>)? {
        while true {
            switch look(take) {
            case .found(let item, let result): return (item, result)
            case .over(let failure?): throw failure
            case .over: return nil
            case .nothingYet: await waitForResult()
            }
        }
    }

    private func look<Item: Sendable>(_ take: (Int) -> Item) -> Look<Item> {
        var (feeder, consumers): (WaitingTask?, [WaitingTask]) = unsafe (nil, [])
        defer {
            unsafe feeder?.resume()
            unsafe consumers.resumeAll()
        }
        return state.withLock { state in
            if state.batch.isEmpty {
                if isAbandoned.load(ordering: .acquiring) { return .over(nil) }
                guard !state.results.isEmpty else {
                    return isDone(state) ? .over(state.failure.take()) : .nothingYet
                }
                swap(&state.results, &state.batch)
            }
            let (place, result) = state.batch[state.taken]
            let item = take(place)
            state.taken += 1
            if state.taken == state.batch.count {
                state.freeBatch()
                unsafe feeder = unsafe state.feeder.take()
                if isDone(state) { unsafe consumers = unsafe state.takeConsumers() }
            }
            return .found(item, result)
        }
    }

    /// Whether the result of each item was taken.
    private func isDone(_ state: borrowing State) -> Bool { state.isFed && state.free.count == pending }

    private func waitForResult() async {
        await withTaskCancellationHandler {
            await unsafe withUnsafeContinuation { continuation in
                let isReady = state.withLock { state in
                    let hasResult = !state.batch.isEmpty || !state.results.isEmpty
                    if hasResult || isAbandoned.load(ordering: .acquiring) || isDone(state) { return true }
                    unsafe state.consumers.append(continuation)
                    return false
                }
                if isReady { unsafe continuation.resume() }
            }
        } onCancel: {
            abandon()
        }
    }

    /// Cancels what is pending. Later results are dropped.
    @usableFromInline
    func abandon() {
        isAbandoned.store(true, ordering: .sequentiallyConsistent)
        let waiting = unsafe state.withLock { state in
            var waiting = unsafe state.takeConsumers()
            if let feeder = unsafe state.feeder.take() { unsafe waiting.append(feeder) }
            return unsafe waiting
        }
        sender.cancelAll(of: self)
        unsafe waiting.resumeAll()
    }
}
