import Glibc

/// Where the bytes of an input come from, in pieces of any size. A new origin or packing (gzip, a query's COPY) is a type that
/// conforms, and a case of ``InputLocation/open(limit:)``.
///
/// It is asked once for each buffer, never for a row. What only files can do has defaults.
protocol ByteSource: AnyObject, Sendable {
    /// How many bytes there were to read when the source was opened, where that is known. Only then it can seek.
    var byteCount: UInt64? { get }

    /// Reads 1 byte or more, waiting for the first; 0 at the end. One thread at a time.
    ///
    /// - Throws: `InputError.cannotRead`, `.cancelled`.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Int

    /// How many bytes stand behind the first `byteCount` by now, and the first of them.
    func bytesBehind() -> (count: UInt64, first: UInt8)?

    /// The next read begins so many bytes behind the input's first.
    ///
    /// - Throws: `InputError.cannotRead`.
    func seek(to offset: UInt64) throws(InputError)

    /// Reads bytes that stand so far behind the input's first, and leaves the next read where it is. From any thread.
    ///
    /// - Returns: false when not all of them could be read.
    func read(at offset: UInt64, into bytes: UnsafeMutableRawBufferPointer) -> Bool

    /// From any thread: a read that waits, now or later, throws `.cancelled`.
    func cancel()
}

extension ByteSource {
    var byteCount: UInt64? { nil }
    func bytesBehind() -> (count: UInt64, first: UInt8)? { nil }
    func seek(to offset: UInt64) throws(InputError) { throw .cannotRead(errno: ESPIPE) }
    func read(at offset: UInt64, into bytes: UnsafeMutableRawBufferPointer) -> Bool { false }
    func cancel() {}
}
