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

/// Answers that are held back, the next one due first: a binary heap of times over slots that do not move. Grows with
/// the number of requests that clients keep open at once, which the transport limits.
struct AnswerQueue: ~Copyable {
    private struct Due {
        /// Nanoseconds of the loop's clock.
        var time: UInt64
        /// Answers due at the same time leave in the order in which they came.
        var order: UInt64
        var slot: Int
    }

    private var heap: UnsafeMutablePointer<Due>
    private var slots: UnsafeMutablePointer<PendingAnswer>
    /// Numbers of slots; those from `count` on are free.
    private var slotNumbers: UnsafeMutablePointer<Int>
    private var capacity: Int
    private(set) var count = 0
    private var order: UInt64 = 0

    init(capacity: Int = 1024) {
        precondition(capacity > 0)
        self.capacity = capacity
        heap = .allocate(capacity: capacity)
        slots = .allocate(capacity: capacity)
        slotNumbers = .allocate(capacity: capacity)
        for index in 0..<capacity {
            (slotNumbers + index).initialize(to: index)
        }
    }

    deinit {
        heap.deallocate()
        slots.deallocate()
        slotNumbers.deallocate()
    }

    /// When the next answer is due, or UInt64.max.
    var nextTime: UInt64 {
        count > 0 ? heap[0].time : .max
    }

    /// Takes an answer that is due at `time`. Complexity: the logarithm of `count`.
    mutating func insert(_ answer: PendingAnswer, at time: UInt64) {
        if count == capacity {
            grow()
        }
        let slot = slotNumbers[count]
        (slots + slot).initialize(to: answer)
        let due = Due(time: time, order: order, slot: slot)
        order += 1
        var index = count
        count += 1
        while index > 0, Self.isEarlier(due, heap[(index - 1) / 2]) {
            heap[index] = heap[(index - 1) / 2]
            index = (index - 1) / 2
        }
        heap[index] = due
    }

    /// Takes out the next answer if it is due by `now`. Complexity: the logarithm of `count`.
    mutating func popDue(by now: UInt64) -> PendingAnswer? {
        guard count > 0, heap[0].time <= now else { return nil }
        let slot = heap[0].slot
        count -= 1
        slotNumbers[count] = slot
        if count > 0 {
            sink(heap[count])
        }
        return slots[slot]
    }

    /// Puts `due` where the top was and restores the order below it.
    private mutating func sink(_ due: Due) {
        var index = 0
        while true {
            var child = 2 * index + 1
            guard child < count else { break }
            if child + 1 < count, Self.isEarlier(heap[child + 1], heap[child]) {
                child += 1
            }
            guard Self.isEarlier(heap[child], due) else { break }
            heap[index] = heap[child]
            index = child
        }
        heap[index] = due
    }

    @inline(__always)
    private static func isEarlier(_ one: Due, _ other: Due) -> Bool {
        one.time == other.time ? one.order < other.order : one.time < other.time
    }

    private mutating func grow() {
        heap = Self.doubled(heap, capacity)
        slots = Self.doubled(slots, capacity)
        slotNumbers = Self.doubled(slotNumbers, capacity)
        for index in capacity..<2 * capacity {
            (slotNumbers + index).initialize(to: index)
        }
        capacity *= 2
    }

    private static func doubled<Element>(_ old: UnsafeMutablePointer<Element>, _ count: Int) -> UnsafeMutablePointer<
        Element
    > {
        let new = UnsafeMutablePointer<Element>.allocate(capacity: 2 * count)
        new.moveInitialize(from: old, count: count)
        old.deallocate()
        return new
    }
}
