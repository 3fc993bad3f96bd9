/// Decides whether a row that is due again or a fresh one goes first. They alternate while there are both, so that every
/// second stream is for a fresh row, however many rows are due at once.
struct Turns: Equatable {
    private(set) var againGoesFirst = true

    mutating func take(again ticket: Int) -> Int {
        againGoesFirst = false
        return ticket
    }

    mutating func take(fresh ticket: Int) -> Int {
        againGoesFirst = true
        return ticket
    }
}

/// The rows of a lane that will be sent again, in a binary heap ordered by their due times.
///
/// Only rows whose requests failed get here, so it may grow and shrink like an array.
struct RetryQueue {
    private struct Waiting {
        var due: UInt64
        var ticket: Int32
    }

    private var heap: [Waiting] = []

    var count: Int { heap.count }

    /// The row with the earliest due time.
    var first: Int? { heap.first.map { Int($0.ticket) } }

    /// Whether any row is due.
    func isDue(now: UInt64) -> Bool { heap.first.map { $0.due <= now } ?? false }

    mutating func add(ticket: Int, due: UInt64) {
        heap.append(Waiting(due: due, ticket: Int32(ticket)))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].due < heap[parent].due else { break }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    /// Removes and returns the row with the earliest due time, if it is due.
    mutating func takeDue(now: UInt64) -> Int? {
        guard let first = heap.first, first.due <= now else { return nil }
        return removeFirst(first)
    }

    /// Removes and returns a row, due or not. For the end of a run.
    mutating func takeAny() -> Int? {
        guard let first = heap.first else { return nil }
        return removeFirst(first)
    }

    func contains(ticket: Int) -> Bool { heap.contains { $0.ticket == Int32(ticket) } }

    /// Removes a row, due or not. Takes a time that grows with the number of rows. Returns whether it was there.
    mutating func remove(ticket: Int) -> Bool {
        guard let index = heap.firstIndex(where: { $0.ticket == Int32(ticket) }) else { return false }
        var others = heap
        others.remove(at: index)
        heap.removeAll(keepingCapacity: true)
        for other in others { add(ticket: Int(other.ticket), due: other.due) }
        assert(!contains(ticket: ticket), "a row waits once for another attempt")
        return true
    }

    private mutating func removeFirst(_ first: Waiting) -> Int {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child].due < heap[least].due
            {
                least = child
            }
            guard least != parent else {
                assert(heap.first.map { $0.due >= first.due } ?? true, "rows leave in the order of their times")
                return Int(first.ticket)
            }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
