/// Where a reader's bytes come from, in pieces of any size.
protocol ByteSource: AnyObject, Sendable {
    /// How many bytes there were to read when the source was opened, where that is known.
    var byteCount: UInt64? { get }

    /// Reads 1 to `count` bytes, waiting for the first; 0 at the end. One thread at a time.
    ///
    /// - Throws: `CSVError.cannotRead`, `.cancelled`.
    func read(into buffer: UnsafeMutableRawPointer, count: Int) throws(CSVError) -> Int

    /// How many bytes stand behind the first `byteCount` by now, and the first of them.
    func bytesBehind() -> (count: UInt64, first: UInt8)?

    /// The next read begins so many bytes behind the input's first. Only where `byteCount` is known.
    ///
    /// - Throws: `CSVError.cannotRead`.
    func seek(to offset: UInt64) throws(CSVError)

    /// Reads bytes that stand so far behind the input's first, and leaves the next read where it is. From any thread; only where
    /// `byteCount` is known.
    ///
    /// - Returns: false when not all of them could be read.
    func read(at offset: UInt64, into bytes: UnsafeMutableRawBufferPointer) -> Bool

    /// From any thread: a read that waits, now or later, throws `.cancelled`.
    func cancel()
}

extension ByteSource {
    func bytesBehind() -> (count: UInt64, first: UInt8)? { nil }

    func read(at offset: UInt64, into bytes: UnsafeMutableRawBufferPointer) -> Bool { false }
}
