import Glibc

@testable import APNSBatch

/// A file in memory, with a disk behind it that can be full.
final class MemoryStorage: LedgerStorage, @unchecked Sendable {
    var bytes: [UInt8]
    /// Of the disk; nil for one without an end.
    var capacity: UInt64?
    private var reserved: UInt64 = 0
    /// Of the next append so many bytes arrive, and it fails.
    var cutsNextAppend: Int?
    var failsNextSync = false
    var failsToCut = false
    /// Done in the middle of the next sync, as another thread might.
    var besideNextSync: (() throws(StorageError) -> Void)?

    init(_ bytes: [UInt8] = []) { self.bytes = bytes }

    var length: UInt64 { UInt64(bytes.count) }

    func append(_ more: UnsafeRawBufferPointer) throws(StorageError) {
        if let cut = cutsNextAppend {
            cutsNextAppend = nil
            bytes += more.prefix(cut)
            throw StorageError("write", "memory", code: EIO)
        }
        let room = max(capacity ?? .max, reserved)
        let fits = min(UInt64(more.count), room - min(room, length))
        bytes += more.prefix(Int(fits))
        guard fits == more.count else { throw StorageError("write", "memory", code: ENOSPC) }
    }

    func sync() throws(StorageError) {
        if failsNextSync {
            failsNextSync = false
            throw StorageError("sync", "memory", code: EIO)
        }
        guard let beside = besideNextSync else { return }
        besideNextSync = nil
        try beside()
    }

    func reserve(_ more: UInt64) throws(StorageError) {
        guard length + more <= capacity ?? .max else { throw StorageError("reserve space for", "memory", code: ENOSPC) }
        reserved = max(reserved, length + more)
    }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StorageError) -> Int {
        guard offset < length else { return 0 }
        let part = bytes[Int(offset)..<min(bytes.count, Int(offset) + buffer.count)]
        buffer.copyBytes(from: part)
        return part.count
    }

    func truncate(to length: UInt64) throws(StorageError) {
        if failsToCut { throw StorageError("cut", "memory", code: EIO) }
        reserved = length
        bytes.removeSubrange(Int(length)...)
    }
}
