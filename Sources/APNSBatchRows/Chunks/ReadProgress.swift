import Synchronization

/// What other threads see of a reader, and tell it.
final class ReadProgress: Sendable {
    let bytesRead = Atomic<UInt64>(0)
    /// Bytes that were added to the input behind those that are read; known at its end.
    let bytesAdded = Atomic<UInt64>(0)
    /// The line that those bytes go on with, and that is left out; 0 for none.
    let lineCut = Atomic<UInt64>(0)
    let isCancelled = Atomic<Bool>(false)
}
