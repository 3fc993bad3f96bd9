import Synchronization

/// What other threads see of a reader, and tell it.
final class ReadProgress: Sendable {
    let bytesRead = Atomic<UInt64>(0)
    let isCancelled = Atomic<Bool>(false)
}
