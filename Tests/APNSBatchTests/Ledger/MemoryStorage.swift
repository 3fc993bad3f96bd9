import APNSBatchBasics
import Glibc

@testable import APNSBatchModel
@testable import APNSBatchRecords

/// A file in memory, with a disk behind it that can be full.
final class MemoryStorage: AppendFile, @unchecked Sendable {
    var bytes: [UInt8]
    /// The capacity of the disk in bytes; nil for no limit.
    var capacity: UInt64?
    private var reserved: UInt64 = 0
    /// Appends, syncs and cuts that succeed before one fails; an append that fails leaves half of it.
    var appendsLeft = Int.max
    var syncsLeft = Int.max
    var cutsLeft = Int.max
    /// No read begins there or behind, but for those from an earlier place.
    var unreadable: UInt64?
    var reservationFailure: StorageError?
    /// Called while a sync is in progress.
    var onSync: () -> Void = {}

    init(_ bytes: [UInt8] = []) { self.bytes = bytes }

    var length: UInt64 { UInt64(bytes.count) }

    func append(_ more: UnsafeRawBufferPointer) throws(StorageError) {
        appendsLeft -= 1
        if appendsLeft == -1 {
            bytes += more.prefix(more.count / 2)
            throw StorageError("write", "memory", code: EIO)
        }
        let room = max(capacity ?? .max, reserved)
        let fits = min(UInt64(more.count), room - min(room, length))
        bytes += more.prefix(Int(fits))
        guard fits == more.count else { throw StorageError("write", "memory", code: ENOSPC) }
    }

    func sync() throws(StorageError) {
        onSync()
        syncsLeft -= 1
        if syncsLeft == -1 { throw StorageError("sync", "memory", code: EIO) }
    }

    func reserve(_ more: UInt64) throws(StorageError) {
        guard length + more <= capacity ?? .max else { throw StorageError("reserve space for", "memory", code: ENOSPC) }
        reserved = max(reserved, length + more)
    }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StorageError) -> Int {
        guard offset < length else { return 0 }
        if let unreadable, offset >= unreadable { throw StorageError("read", "memory", code: EIO) }
        let part = bytes[Int(offset)..<min(bytes.count, Int(offset) + buffer.count)]
        buffer.copyBytes(from: part)
        return part.count
    }

    func truncate(to length: UInt64) throws(StorageError) {
        cutsLeft -= 1
        if cutsLeft == -1 { throw StorageError("cut", "memory", code: EIO) }
        bytes.removeSubrange(Int(length)...)
    }
}
