/// Passes batches from thread to thread. It is bounded, and only threads that may wait are made to wait.
///
/// Elements are batches of thousands of rows, so one lock for each costs nothing that can be measured.
package final class BoundedQueue<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        /// How many of `elements` were taken already. They are removed together, when there are `takenMax`.
        var head = 0
        var isClosed = false

        static var takenMax: Int { 64 }

        var count: Int { elements.count - head }

        mutating func take() -> Taken {
            guard count > 0 else { return isClosed ? .closed : .nothingYet }
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

    /// What a look at the queue found.
    package enum Taken {
        case element(Element)
        case nothingYet
        case closed
    }

    private let capacity: Int
    private let state = Guarded(State())

    package init(capacity: Int) {
        self.capacity = capacity
        state.withLock { $0.elements.reserveCapacity(capacity + State.takenMax) }
    }

    package var isEmpty: Bool { state.withLock { $0.count == 0 } }

    /// Waits for room. Returns false when the queue was closed and the element was not taken.
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

    /// Waits for an element; nil when the queue is closed and empty.
    package func pop() -> Element? {
        guard case .element(let element) = pop(until: nil) else { return nil }
        return element
    }

    /// Waits for an element until a time in nanoseconds of the monotonic clock; nil to wait without end.
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

    /// Never waits.
    package func tryPop() -> Taken {
        let taken = state.withLock { $0.take() }
        if case .element = taken { state.wakeAll() }
        return taken
    }

    /// No more elements come; those inside are still handed out.
    package func close() { state.change { $0.isClosed = true } }
}
