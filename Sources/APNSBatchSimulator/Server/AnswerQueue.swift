/// An answer that was decided and not yet sent.
struct PendingAnswer {
    var connection: UInt64
    var stream: UInt32
    /// The index of the answer in the table of answers.
    var number: UInt32
    /// Whether the request came with a provider token that was accepted.
    var isAuthorized: Bool
    /// Whether the id is an `apns-request-id`.
    var isAboutChannels = false
    /// The slot of the answer's additional fields, or -1.
    var reply: Int32 = -1
    /// The slot of the answer's fault, or -1.
    var treatment: Int32 = -1
    /// The code of an RST_STREAM that is sent instead of the answer.
    var reset: UInt32?
    var id: MessageID
}

/// A binary heap of delayed answers, ordered by the time at which they are due. It grows with the number of requests in
/// flight, which the transport limits.
struct AnswerQueue {
    private struct Due: Comparable {
        /// The time at which the answer is due, in nanoseconds of the loop's clock.
        var time: UInt64
        /// The order of arrival, which decides between answers due at the same time.
        var order: UInt64
        var slot: Int32

        static func < (one: Due, other: Due) -> Bool {
            one.time == other.time ? one.order < other.order : one.time < other.time
        }
    }

    private var heap: [Due] = []
    private var waiting = Slots<PendingAnswer>()
    private var order: UInt64 = 0

    var count: Int { heap.count }

    /// The time at which the next answer is due, or `UInt64.max` if there is none.
    var nextTime: UInt64 { heap.first?.time ?? .max }

    /// Inserts an answer that is due at `time`. Complexity: O(log `count`).
    mutating func insert(_ answer: PendingAnswer, at time: UInt64) {
        var index = heap.count
        heap.append(Due(time: time, order: order, slot: waiting.insert(answer)))
        order += 1
        while index > 0, heap[index] < heap[(index - 1) / 2] {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    /// Removes and returns the next answer if it is due by `now`. Complexity: O(log `count`).
    mutating func popDue(by now: UInt64) -> PendingAnswer? {
        guard let next = heap.first, next.time <= now else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        sink()
        return waiting.remove(next.slot)
    }

    /// Moves the first element down until the heap is ordered again.
    private mutating func sink() {
        var index = 0
        while case var child = 2 * index + 1, child < heap.count {
            if child + 1 < heap.count, heap[child + 1] < heap[child] { child += 1 }
            guard heap[child] < heap[index] else { return }
            heap.swapAt(index, child)
            index = child
        }
    }
}

/// A collection of values, each of which is stored until it is removed by its index.
struct Slots<Element> {
    private var elements: [Element?] = []
    private var free: [Int32] = []

    /// Stores a value and returns its index.
    mutating func insert(_ element: Element) -> Int32 {
        guard let number = free.popLast() else {
            elements.append(element)
            return Int32(elements.count - 1)
        }
        elements[Int(number)] = element
        return number
    }

    /// Removes and returns a value, and frees its index.
    mutating func remove(_ number: Int32) -> Element {
        guard let element = elements[Int(number)].take() else { preconditionFailure("no value has this number") }
        free.append(number)
        return element
    }
}
