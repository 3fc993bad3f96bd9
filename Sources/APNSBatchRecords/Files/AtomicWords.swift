import Synchronization

/// Words that threads read and write as atomics. All are 0 at first.
package final class AtomicWords: @unchecked Sendable {
    package let count: Int
    private let words: UnsafeMutablePointer<Atomic<UInt64>>

    package init(count: Int) {
        self.count = count
        words = .allocate(capacity: count)
        for index in 0..<count { (words + index).initialize(to: Atomic(0)) }
    }

    deinit { words.deallocate() }

    package subscript(index: Int) -> UnsafeMutablePointer<Atomic<UInt64>> {
        precondition(index >= 0 && index < count)
        return words + index
    }
}
