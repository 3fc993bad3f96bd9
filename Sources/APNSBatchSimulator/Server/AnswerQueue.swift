/// An answer that is on its way.
struct PendingAnswer {
    var connection: UInt64
    var stream: UInt32
    /// Its place in the table of answers.
    var number: UInt32
    /// Whether the request came with a provider token that was accepted.
    var isAuthorized: Bool
    /// Whether the id is an `apns-request-id`.
    var isAboutChannels = false
    /// Number of what the answer carries beside, or -1.
    var reply: Int32 = -1
    /// Number of what is unusual about the answer, or -1.
    var treatment: Int32 = -1
    /// RST_STREAM with that code instead.
    var reset: UInt32?
    var id: MessageID
}

/// Answers that are held back, the next one due first: a binary heap of times. Grows with the number of requests that
/// clients keep open at once, which the transport limits.
struct AnswerQueue {
    private struct Due: Comparable {
        /// Nanoseconds of the loop's clock.
        var time: UInt64
        /// Answers due at the same time leave in the order in which they came.
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

    /// When the next answer is due, or UInt64.max.
    var nextTime: UInt64 { heap.first?.time ?? .max }

    /// Takes an answer that is due at `time`. Complexity: the logarithm of `count`.
    mutating func insert(_ answer: PendingAnswer, at time: UInt64) {
        var index = heap.count
        heap.append(Due(time: time, order: order, slot: waiting.insert(answer)))
        order += 1
        while index > 0, heap[index] < heap[(index - 1) / 2] {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    /// Takes out the next answer if it is due by `now`. Complexity: the logarithm of `count`.
    mutating func popDue(by now: UInt64) -> PendingAnswer? {
        guard let next = heap.first, next.time <= now else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        sink()
        return waiting.remove(next.slot)
    }

    /// Restores the order below the top.
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

/// Values that wait, by number.
struct Slots<Element> {
    private var elements: [Element?] = []
    private var free: [Int32] = []

    /// Keeps a value and returns its number.
    mutating func insert(_ element: Element) -> Int32 {
        guard let number = free.popLast() else {
            elements.append(element)
            return Int32(elements.count - 1)
        }
        elements[Int(number)] = element
        return number
    }

    /// Takes a value out; its number is free again.
    mutating func remove(_ number: Int32) -> Element {
        guard let element = elements[Int(number)].take() else { preconditionFailure("no value has this number") }
        free.append(number)
        return element
    }
}
