/// A file that grows at its end: the operations that the ledger and `results.csv` need, so that a simulation can replace it
/// by a faulty one.
///
/// Only one thread at a time may call it, except that `sync` may run at the same time as the others.
package protocol AppendFile: AnyObject, Sendable {
    /// The number of bytes that can be read, including those that are not durable yet.
    var length: UInt64 { get }

    /// Appends bytes. After an error, a part of them may be in the file.
    func append(_ bytes: UnsafeRawBufferPointer) throws(StorageError)

    /// Returns when all appended bytes are durable, that is, survive a loss of power.
    func sync() throws(StorageError)

    /// Reserves disk space for appending `bytes` more bytes. It does not change the length.
    func reserve(_ bytes: UInt64) throws(StorageError)

    /// Fills the buffer from an offset and returns the number of bytes, which is smaller than the buffer only at the end of
    /// the file.
    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StorageError) -> Int

    /// Truncates the file to `length`, and releases reserved space.
    func truncate(to length: UInt64) throws(StorageError)

    /// Throws if the file's length is not that of the appended bytes: another process truncated, wrote or removed the file.
    func confirmLength() throws(StorageError)

    /// Why the file system reserves no space, known after the first `reserve`; nil if it does. Otherwise a full disk shows
    /// only when something is written.
    var reservationFailure: StorageError? { get }

    /// Releases the lock, so that another process can work on the run.
    func unlock()
}

extension AppendFile {
    package func confirmLength() throws(StorageError) {}
    package var reservationFailure: StorageError? { nil }
    package func unlock() {}
}
