import APNSBatchBasics

/// A file that grows at its end: what the ledger and `results.csv` need of a disk, and no more, so that a simulation can
/// put a faulty one in its place.
///
/// One thread at a time, except that `sync` may go on beside the others.
package protocol LedgerStorage: AnyObject, Sendable {
    /// Bytes that can be read, those included that are not durable yet.
    var length: UInt64 { get }

    /// Writes at the end. After a throw a part of the bytes may be there: the torn tail.
    func append(_ bytes: UnsafeRawBufferPointer) throws(StorageError)

    /// Returns when all that was appended survives a loss of power.
    func sync() throws(StorageError)

    /// Sees to it that so many more bytes can be appended without the disk being full. It does not change the length.
    func reserve(_ bytes: UInt64) throws(StorageError)

    /// Reads up to the buffer's size; fewer bytes only where the end is.
    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StorageError) -> Int

    /// Cuts what is behind `length`, and with it what was reserved.
    func truncate(to length: UInt64) throws(StorageError)

    /// Throws when the file is not as long as what was appended: somebody else cut it, wrote to it or removed it.
    func confirmLength() throws(StorageError)

    /// Why the file system reserves no space, once it was asked; nil if it does. A full disk then shows when it is written
    /// to.
    var reservationFailure: StorageError? { get }

    /// The run is over: another one may work on it.
    func unlock()
}

extension LedgerStorage {
    package func confirmLength() throws(StorageError) {}
    package var reservationFailure: StorageError? { nil }
    package func unlock() {}
}

/// Why a disk did not do as asked.
package struct StorageError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What was to be done, such as `write`.
    package var action: String
    /// What was to be done to it: a path.
    package var name: String
    /// Of the system.
    package var code: Int32

    package init(_ action: String, _ name: String, code: Int32) {
        self.action = action
        self.name = name
        self.code = code
    }

    /// In the place of a system's code: the file is no regular file.
    package static let notRegular: Int32 = -1
    /// In the place of a system's code: somebody else changed or removed the file while it was written.
    package static let changed: Int32 = -2

    package var description: String {
        switch code {
        case Self.notRegular: "cannot \(action) \(name): it is not a regular file"
        case Self.changed: "\(name) was changed or removed by another program while it was being written"
        default: "cannot \(action) \(name): \(systemMessage(code))"
        }
    }
}
