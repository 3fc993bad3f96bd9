import APNSBatch
import APNSBatchBasics
import APNSBatchRecords
import Glibc

/// A file in memory, of a fixed size.
final class MemoryStorage: AppendFile, @unchecked Sendable {
    private let bytes: UnsafeMutableRawBufferPointer
    private(set) var length: UInt64 = 0

    init(capacity: Int) { bytes = .allocate(byteCount: capacity, alignment: 64) }

    deinit { bytes.deallocate() }

    func append(_ more: UnsafeRawBufferPointer) throws(StorageError) {
        let end = Int(length) + more.count
        guard end <= bytes.count else { throw StorageError("write", "memory", code: ENOSPC) }
        UnsafeMutableRawBufferPointer(rebasing: bytes[Int(length)..<end]).copyMemory(from: more)
        length = UInt64(end)
    }

    func sync() {}

    func reserve(_ more: UInt64) {}

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StorageError) -> Int {
        throw StorageError("read", "memory", code: ENOTSUP)
    }

    func truncate(to length: UInt64) { self.length = length }
}

/// Another storage, but nobody waits for the disk.
final class UnsyncedStorage: AppendFile {
    private let storage: any AppendFile

    init(_ storage: any AppendFile) { self.storage = storage }

    var length: UInt64 { storage.length }

    func append(_ more: UnsafeRawBufferPointer) throws(StorageError) { try storage.append(more) }

    func sync() {}

    func reserve(_ more: UInt64) throws(StorageError) { try storage.reserve(more) }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StorageError) -> Int {
        try storage.read(at: offset, into: buffer)
    }

    func truncate(to length: UInt64) throws(StorageError) { try storage.truncate(to: length) }
}
