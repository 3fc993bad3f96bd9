import APNSBatchBasics
import Glibc

/// A source of the input's bytes. A new origin (such as a query) is a type that conforms, a case of ``InputLocation`` and
/// one of `CampaignInput`. A packing (such as gzip) is a type that reads another source, and that
/// ``InputLocation/open(limit:windowLog:)`` puts around it.
///
/// It is called once for each buffer, never for a row. What only files can do has default implementations.
protocol ByteSource: AnyObject, Sendable {
    /// The number of bytes to read, as it was when the source was opened; nil if it is known only at the end.
    var size: UInt64? { get }

    /// The number of bytes that the input takes where it is stored, as it was when the source was opened; nil if it is known only at the end.
    /// It differs from ``size`` if the input is packed, and then ``size`` is nil.
    var storedSize: UInt64? { get }

    /// How many of those bytes were read.
    ///
    /// - Parameter read: The number of bytes that `read` has returned since the start or the last `seek`, and those before.
    func storedBytes(read: UInt64) -> UInt64

    /// How the bytes are packed where they are stored; nil if they are not, or if no byte was read yet.
    var packing: Packing? { get }

    /// The files that were read to their end, in order; empty unless the input is made of several.
    var filesRead: [CopiedInput.File] { get }

    /// When the input was last modified, in nanoseconds since 1970-01-01 00:00 UTC; nil if it has no such time.
    var modified: UInt64? { get }

    /// Whether `seek` and `read(at:into:)` work, so that bytes can be read again.
    var canReadAgain: Bool { get }

    /// Whether bytes come when a peer makes them, so that a read may wait.
    var isLive: Bool { get }

    /// Whether the first bytes after the header row follow those that an earlier process took.
    var beginsBehindSpool: Bool { get }

    /// Reads at least 1 byte, waiting for the first; returns 0 at the end. Only one thread at a time may call it.
    ///
    /// - Throws: `InputError.cannotRead`, `.cancelled`.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Int

    /// Whether bytes, or the end, can be read without a wait of more than some milliseconds. Rows that were read are not
    /// kept back for longer.
    func isFlowing() -> Bool

    /// Returns the number of bytes that now follow the first `size`, and the first of them; nil if there are none.
    func bytesBehind() -> (count: UInt64, first: UInt8)?

    /// Moves the next read to an offset from the first byte of the input.
    ///
    /// - Throws: `InputError.cannotRead`.
    func seek(to offset: UInt64) throws(InputError)

    /// Reads bytes at an offset from the first byte of the input, without moving the next read. Any thread may call it.
    ///
    /// - Returns: whether all of them were read, and the input did not end before.
    /// - Throws: `InputError.cannotRead`.
    func read(at offset: UInt64, into bytes: UnsafeMutableRawBufferPointer) throws(InputError) -> Bool

    /// Returns when the bytes that were read can be read again after a loss of power, if they are kept.
    ///
    /// - Throws: `InputError.cannotSpool`.
    func sync() throws(InputError)

    /// Makes a read that waits now or later throw `.cancelled`. Any thread may call it.
    func cancel()
}

extension ByteSource {
    var size: UInt64? { nil }
    var storedSize: UInt64? { size }
    func storedBytes(read: UInt64) -> UInt64 { read }
    var packing: Packing? { nil }
    var filesRead: [CopiedInput.File] { [] }
    var modified: UInt64? { nil }
    var canReadAgain: Bool { false }
    var isLive: Bool { !canReadAgain }
    var beginsBehindSpool: Bool { false }
    func isFlowing() -> Bool { true }
    func bytesBehind() -> (count: UInt64, first: UInt8)? { nil }
    func seek(to offset: UInt64) throws(InputError) { throw .cannotRead(errno: ESPIPE) }
    func read(at offset: UInt64, into bytes: UnsafeMutableRawBufferPointer) throws(InputError) -> Bool {
        throw .cannotRead(errno: ESPIPE)
    }
    func sync() throws(InputError) {}
    func cancel() {}

    /// Reads bytes at an offset, and returns their CRC-32C; nil if the input ends before they do. Any thread may call it.
    ///
    /// - Throws: `InputError.cannotRead`.
    func checksum(of range: Range<UInt64>) throws(InputError) -> UInt32? {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
        defer { unsafe room.deallocate() }
        var (at, sum): (UInt64, UInt32) = (range.lowerBound, 0)
        while at < range.upperBound {
            let count = Int(min(UInt64(room.count), range.upperBound - at))
            let bytes = unsafe UnsafeMutableRawBufferPointer(rebasing: room[..<count])
            guard try unsafe read(at: at, into: bytes) else { return nil }
            sum = unsafe CRC32C.of(UnsafeRawBufferPointer(bytes), after: sum)
            at += UInt64(count)
        }
        return sum
    }
}
