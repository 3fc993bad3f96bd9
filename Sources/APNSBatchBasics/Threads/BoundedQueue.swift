/// A bounded queue that passes batches between threads.
///
/// Elements are batches of thousands of rows, so that the cost of a lock per element is negligible.
package final class BoundedQueue<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        /// The number of `elements` that were already taken. They are removed together when there are `takenMax`.
        var head = 0
        var isClosed = false
        let newestFirst: Bool

        static var takenMax: Int { 64 }

        var count: Int { elements.count - head }

        mutating func take() -> Taken {
            guard count > 0 else { return isClosed ? .closed : .nothingYet }
            if newestFirst, let element = elements.popLast() { return .element(element) }
            let element = elements[head]
            head += 1
            if head == elements.count {
                elements.removeAll(keepingCapacity: true)
                head = 0
            } else if head >= Self.takenMax {
                elements.removeFirst(head)
                head = 0
            }
            return .element(element)
        }
    }

    /// The result of an attempt to take an element.
    package enum Taken {
        case element(Element)
        case nothingYet
        case closed
    }

    private let capacity: Int
    private let state: Guarded<State>

    /// - Parameter newestFirst: Whether the element that was added last is taken first, because it is in the caches.
    package init(capacity: Int, newestFirst: Bool = false) {
        self.capacity = capacity
        state = Guarded(State(newestFirst: newestFirst))
        state.withLock { $0.elements.reserveCapacity(capacity + State.takenMax) }
    }

    package var isEmpty: Bool { count == 0 }
    package var count: Int { state.withLock { $0.count } }

    /// Adds an element, waiting for room if necessary. Returns false if the queue is closed; the element is not added
    /// then.
    @discardableResult
    package func push(_ element: Element) -> Bool {
        let isTaken = state.wait { state -> Bool? in
            if state.isClosed { return false }
            guard state.count < capacity else { return nil }
            state.elements.append(element)
            return true
        }
        state.wakeAll()
        return isTaken == true
    }

    /// Takes an element, waiting for one if necessary. Returns nil when the queue is closed and empty.
    package func pop() -> Element? {
        guard case .element(let element) = pop(until: nil) else { return nil }
        return element
    }

    /// Takes an element, waiting for one until a time on the monotonic clock, in nanoseconds; nil for no limit.
    package func pop(until deadline: UInt64?) -> Taken {
        let taken = state.wait(until: deadline) { state -> Taken? in
            switch state.take() {
            case .nothingYet: nil
            case let taken: taken
            }
        }
        state.wakeAll()
        return taken ?? .nothingYet
    }

    /// Takes an element if there is one, without waiting.
    package func tryPop() -> Taken {
        let taken = state.withLock { $0.take() }
        if case .element = taken { state.wakeAll() }
        return taken
    }

    /// Closes the queue to new elements. Elements in the queue can still be taken.
    package func close() { state.change { $0.isClosed = true } }
}
