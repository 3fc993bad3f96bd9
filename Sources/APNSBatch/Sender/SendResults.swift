import APNSBatchBasics
import APNSBatchModel
import APNSBatchSending

extension Sender {
    /// Sends a notification for each item of a sequence, and returns the items with their results, in the order in which they
    /// end. Nothing is sent before the results are iterated over.
    ///
    /// The sequence is asked for its next item while fewer than `pending` items are without a result or have one that was not
    /// taken, so a slow consumer slows the sending. When the iteration ends early or its task is cancelled, what is pending is
    /// cancelled.
    ///
    /// - Parameters:
    ///   - pending: At least 1.
    ///   - timeout: The longest time until an item has its result; nil for ``Configuration/timeout``.
    ///   - notification: Makes the notification of an item.
    public func send<Items: AsyncSequence & Sendable>(
        contentsOf items: Items, pending: Int = 1000, timeout: Duration? = nil,
        _ notification: @escaping @Sendable (Items.Element) -> PushNotification
    ) -> SendResults<Items> where Items.Element: Sendable {
        precondition(pending > 0, "pending must be at least 1")
        return SendResults(sender: self, items: items, pending: pending, timeout: timeout, notification: notification)
    }
}

/// The results of ``Sender/send(contentsOf:pending:timeout:_:)``. Iterate once.
public struct SendResults<Items: AsyncSequence & Sendable>: AsyncSequence, Sendable where Items.Element: Sendable {
    public typealias Element = (item: Items.Element, result: Result<SendResult, SendError>)

    let sender: Sender
    let items: Items
    let pending: Int
    let timeout: Duration?
    let notification: @Sendable (Items.Element) -> PushNotification

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(SendCollector(self)) }

    public struct AsyncIterator: AsyncIteratorProtocol {
        /// Ends the sending when the iterator is gone.
        private final class Owner {
            let collector: SendCollector<Items>
            let feeding: Task<Void, Never>

            init(_ collector: SendCollector<Items>) {
                self.collector = collector
                feeding = Task { await collector.feed() }
            }

            deinit {
                feeding.cancel()
                collector.abandon()
            }
        }

        private let owner: Owner

        init(_ collector: SendCollector<Items>) { owner = Owner(collector) }

        /// Returns the next result; nil after the last one, or when the task is cancelled.
        ///
        /// - Throws: What the sequence of items throws, after the results of the items before.
        public mutating func next() async throws -> Element? { try await owner.collector.next() }
    }
}

/// Submits items, and collects their results until they are taken.
final class SendCollector<Items: AsyncSequence & Sendable>: Sendable where Items.Element: Sendable {
    typealias Element = SendResults<Items>.Element

    private struct State {
        /// The results that were not taken, and the number of those at the beginning that were.
        var results: [Element] = []
        var head = 0
        /// The ids of the items that were submitted and have not ended, and of those that ended while they were submitted.
        var open: Set<UInt64> = []
        var endedEarly: Set<UInt64> = []
        /// The number of items without a result that was taken.
        var under = 0
        var isFed = false
        var isAbandoned = false
        var failure: (any Error)?
        var consumer: CheckedContinuation<Void, Never>?
        var feeder: CheckedContinuation<Void, Never>?

        var isEmpty: Bool { head == results.count }

        mutating func takeFirst() -> Element? {
            guard !isEmpty else { return nil }
            head += 1
            let first = results[head - 1]
            if head == results.count || head == 1024 {
                results.removeFirst(head)
                head = 0
            }
            return first
        }
    }

    private let state = Guarded(State())
    private let source: SendResults<Items>

    init(_ source: SendResults<Items>) { self.source = source }

    // MARK: Feeding

    func feed() async {
        do {
            for try await item in source.items {
                guard await hasRoom() else { break }
                submit(item)
            }
            finish(nil)
        } catch {
            finish(error)
        }
    }

    /// Waits for room. Returns false if the results are not awaited any more.
    private func hasRoom() async -> Bool {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                if state.isAbandoned || state.under < source.pending { return true }
                state.feeder = continuation
                return false
            }
            if isReady { continuation.resume() }
        }
        return state.withLock { !$0.isAbandoned }
    }

    private func submit(_ item: Items.Element) {
        state.withLock { $0.under += 1 }
        do throws(SendError) {
            let id = try source.sender.submit(source.notification(item), source.timeout) { [self] id, end in
                take(item, end, id)
            }
            guard let id else { return }
            let isAbandoned = state.withLock { state in
                if state.endedEarly.remove(id) == nil { state.open.insert(id) }
                return state.isAbandoned
            }
            if isAbandoned { source.sender.cancel(id) }
        } catch {
            take(item, .failure(error), nil)
        }
    }

    private func take(_ item: Items.Element, _ end: Mailbox.End, _ id: UInt64?) {
        let consumer = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if let id, state.open.remove(id) == nil { state.endedEarly.insert(id) }
            guard !state.isAbandoned else { return nil }
            state.results.append((item, end))
            defer { state.consumer = nil }
            return state.consumer
        }
        consumer?.resume()
    }

    private func finish(_ error: (any Error)?) {
        let consumer = state.withLock { state in
            (state.isFed, state.failure) = (true, error)
            defer { state.consumer = nil }
            return state.consumer
        }
        consumer?.resume()
    }

    // MARK: Taking

    private enum Next {
        case element(Element)
        case nothingYet
        case ended
        case failed(any Error)
    }

    func next() async throws -> Element? {
        while true {
            let (next, feeder) = takeFirst()
            feeder?.resume()
            switch next {
            case .element(let element): return element
            case .ended: return nil
            case .failed(let error): throw error
            case .nothingYet: await waitForResult()
            }
        }
    }

    private func takeFirst() -> (Next, CheckedContinuation<Void, Never>?) {
        state.withLock { state in
            if state.isAbandoned { return (.ended, nil) }
            guard let first = state.takeFirst() else {
                guard state.isFed, state.under == 0 else { return (.nothingYet, nil) }
                guard let failure = state.failure else { return (.ended, nil) }
                state.failure = nil
                return (.failed(failure), nil)
            }
            state.under -= 1
            defer { state.feeder = nil }
            return (.element(first), state.feeder)
        }
    }

    private func waitForResult() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    let isOver = state.isFed && state.under == 0
                    if !state.isEmpty || state.isAbandoned || isOver { return true }
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
    func abandon() {
        let (open, waiting) = state.withLock { state in
            state.isAbandoned = true
            let waiting = [state.consumer, state.feeder]
            (state.consumer, state.feeder) = (nil, nil)
            return (state.open, waiting)
        }
        for id in open { source.sender.cancel(id) }
        for continuation in waiting { continuation?.resume() }
    }
}
