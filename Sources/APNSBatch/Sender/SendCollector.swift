import APNSBatchBasics
import APNSBatchModel
import APNSBatchSending

/// Submits the items of a sequence, and collects their results until they are taken.
final class SendCollector<Items: AsyncSequence & Sendable>: Sendable where Items.Element: Sendable {
    typealias Element = SendResults<Items>.Element

    /// An item that was submitted.
    private final class Item: SubmissionOwner {
        let element: Items.Element
        /// Where the collector keeps its id.
        let place: Int
        private let collector: SendCollector

        init(_ element: Items.Element, at place: Int, _ collector: SendCollector) {
            (self.element, self.place, self.collector) = (element, place, collector)
        }

        func submissionDidEnd(_ end: Mailbox.End) { collector.take(self, end) }
    }

    private struct State {
        /// The results that were not taken, and the number of those at the beginning that were.
        var results: [Element] = []
        var head = 0
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

        var isEmpty: Bool { head == results.count }
        /// Whether each item that was submitted has ended.
        var isDone: Bool { isFed && free.count == open.count }
        /// Whether another item may be submitted: its result will have room.
        var hasRoom: Bool { results.count - head < free.count }

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

    private let state: Guarded<State>
    private let source: SendResults<Items>

    init(_ source: SendResults<Items>) {
        self.source = source
        state = Guarded(State(pending: source.pending))
    }

    // MARK: Feeding

    /// Submits all items. Returns when the last one was submitted, or when their results are not awaited any more.
    func feed() async {
        do {
            for try await element in source.items {
                guard let place = await place() else { break }
                submit(Item(element, at: place, self))
            }
            finish(nil)
        } catch {
            finish(error)
        }
    }

    /// Takes a place for an item, and waits for one if there is none. Returns nil if the results are not awaited any more.
    private func place() async -> Int? {
        while true {
            let (place, isOver) = state.withLock { state -> (Int?, Bool) in
                if state.isAbandoned { return (nil, true) }
                return (state.hasRoom ? state.free.popLast() : nil, false)
            }
            if isOver || place != nil { return place }
            await withUnsafeContinuation { continuation in
                let isReady = state.withLock { state in
                    if state.isAbandoned || state.hasRoom { return true }
                    state.feeder = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        }
    }

    private func submit(_ item: Item) {
        do throws(SendError) {
            let id = try source.sender.submit(source.notification(item.element), source.timeout, owner: item)
            let isAbandoned = state.withLock { state in
                state.open[item.place] = id
                return state.isAbandoned
            }
            if isAbandoned, let id { source.sender.cancel(id) }
        } catch {
            take(item, .failure(error))
        }
    }

    private func take(_ item: Item, _ end: Mailbox.End) {
        let consumer = state.withLock { state -> UnsafeContinuation<Void, Never>? in
            state.open[item.place] = nil
            state.free.append(item.place)
            if !state.isAbandoned { state.results.append((item.element, end)) }
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

    private func takeFirst() -> (Next, UnsafeContinuation<Void, Never>?) {
        state.withLock { state in
            if state.isAbandoned { return (.ended, nil) }
            guard let first = state.takeFirst() else {
                guard state.isDone else { return (.nothingYet, nil) }
                guard let failure = state.failure else { return (.ended, nil) }
                state.failure = nil
                return (.failed(failure), nil)
            }
            guard state.hasRoom else { return (.element(first), nil) }
            defer { state.feeder = nil }
            return (.element(first), state.feeder)
        }
    }

    private func waitForResult() async {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let isReady = state.withLock { state in
                    if !state.isEmpty || state.isAbandoned || state.isDone { return true }
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
        for id in open { id.map(source.sender.cancel) }
        for continuation in waiting { continuation?.resume() }
    }
}
