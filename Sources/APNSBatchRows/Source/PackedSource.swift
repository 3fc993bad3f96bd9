import APNSBatchBasics
import Synchronization

/// The bytes of another source, unpacked if they are packed. The packing is detected from the content, not from the name.
///
/// It unpacks on the thread that reads. A place can be read again only from the start, whose bytes are unpacked and dropped up to that
/// place.
///
/// Threads: any thread may call `cancel`, `storedBytes` and `read(at:into:)`, and one at a time the other functions.
final class PackedSource: ByteSource, @unchecked Sendable {
    private let origin: any ByteSource
    private let windowLog: Int
    /// Used by the thread that reads.
    private let stream: UnpackedStream
    /// For `read(at:into:)`, which has a place of its own; made when it is first called.
    private let second = Guarded<UnpackedStream?>(nil)
    private let isCancelled = Atomic<Bool>(false)
    private let storedRead = Atomic<UInt64>(0)

    let canReadAgain: Bool
    let isLive: Bool

    /// - Parameter windowLog: The binary logarithm of the largest window, in bytes, that a zstd frame may need.
    init(_ origin: any ByteSource, windowLog: Int) {
        self.origin = origin
        self.windowLog = windowLog
        stream = UnpackedStream(origin, windowLog: windowLog)
        (canReadAgain, isLive) = (origin.canReadAgain, origin.isLive)
    }

    var storedSize: UInt64? { origin.storedSize }
    func storedBytes(read: UInt64) -> UInt64 { storedRead.load(ordering: .relaxed) }
    var packing: Packing? { stream.packing }
    var modified: UInt64? { origin.modified }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Int {
        let count = try unsafe stream.read(into: buffer)
        storedRead.store(stream.offset, ordering: .relaxed)
        return count
    }

    func isFlowing() -> Bool { stream.hasInput || origin.isFlowing() }

    /// Bytes that were added to a packed file follow a whole member or frame, and so a whole line.
    func bytesBehind() -> (count: UInt64, first: UInt8)? {
        origin.bytesBehind().map { (count: $0.count, first: packing == nil ? $0.first : Byte.lineFeed) }
    }

    func seek(to offset: UInt64) throws(InputError) {
        try stream.move(to: offset) { isCancelled.load(ordering: .relaxed) }
        storedRead.store(stream.offset, ordering: .relaxed)
    }

    func read(at offset: UInt64, into bytes: UnsafeMutableRawBufferPointer) throws(InputError) -> Bool {
        guard canReadAgain else { return false }
        let room = unsafe LentBytes(bytes: bytes)
        return try second.withLock { (second) throws(InputError) -> Bool in
            let stream = second ?? UnpackedStream(origin, windowLog: windowLog)
            // A stream that failed is not used again.
            second = nil
            try stream.move(to: offset) { isCancelled.load(ordering: .relaxed) }
            let isWhole = try unsafe stream.fill(room.bytes)
            second = stream
            return isWhole
        }
    }

    func cancel() {
        isCancelled.store(true, ordering: .relaxed)
        origin.cancel()
    }
}
