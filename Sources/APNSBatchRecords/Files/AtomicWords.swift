import Synchronization

/// Words that threads read and write as atomics. All are 0 at first.
@safe package final class AtomicWords: @unchecked Sendable {
    package let count: Int
    private let words: UnsafeMutablePointer<Atomic<UInt64>>

    package init(count: Int) {
        self.count = count
        unsafe words = .allocate(capacity: count)
        for index in 0..<count { unsafe (words + index).initialize(to: Atomic(0)) }
    }

    deinit { unsafe words.deallocate() }

    package subscript(index: Int) -> UnsafeMutablePointer<Atomic<UInt64>> {
        precondition(index >= 0 && index < count)
        return unsafe words + index
    }
}
