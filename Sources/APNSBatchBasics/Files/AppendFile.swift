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

    /// Truncates the file to `length`, and releases reserved space. Throws if the file is not as this object has left it, so that
    /// nothing is cut that another process has written.
    func truncate(to length: UInt64) throws(StorageError)

    /// Throws if the file's length is not that of the appended bytes: another process truncated, wrote or removed the file. Under
    /// a lock that this object has taken, and before it has written, it also throws if the file was written since.
    func confirmLength() throws(StorageError)

    /// Throws unless this object holds the lock that it has taken, on the file that has the name. That proves that other files
    /// may be changed which belong to the holder of this lock.
    func confirmHeld() throws(StorageError)

    /// What the file is like now, by which a later look finds that it was written or replaced meanwhile; nil for a file in memory.
    var stamp: FileStamp? { get }

    /// Why the file system reserves no space, known after the first `reserve`; nil if it does. Otherwise a full disk shows
    /// only when something is written.
    var reservationFailure: StorageError? { get }

    /// Releases the lock, so that another process can work on the run. Nothing can be written through this object afterwards.
    func unlock()
}

/// What a file is like at one moment.
package struct FileStamp: Sendable, Equatable {
    let device: UInt64
    let number: UInt64
    let length: Int64
    /// When it was last written, in nanoseconds since the epoch.
    let written: Int64

    /// A text that differs for files, and for one file that was written in between.
    package var text: String { "\(device)-\(number)-\(written)" }
}

extension AppendFile {
    package func confirmLength() throws(StorageError) {}
    package func confirmHeld() throws(StorageError) {}
    package var stamp: FileStamp? { nil }
    package var reservationFailure: StorageError? { nil }
    package func unlock() {}
}
