import APNSBatchBasics
import Glibc

/// A file in memory, on a disk that can become full or fail.
final class PlanStorage: AppendFile, @unchecked Sendable {
    var bytes: [UInt8] = []
    /// The capacity of the disk in bytes.
    var capacity = Int.max
    /// The number of appends and syncs that succeed before one fails. An append that fails writes half of its bytes.
    var callsLeft = Int.max

    init(_ bytes: [UInt8] = []) { self.bytes = bytes }

    var length: UInt64 { UInt64(bytes.count) }

    private var fails: Bool {
        callsLeft -= 1
        return callsLeft < 0
    }

    func append(_ more: UnsafeRawBufferPointer) throws(StorageError) {
        if fails {
            bytes += more.prefix(more.count / 2)
            throw StorageError("write", "memory", code: EIO)
        }
        bytes += more.prefix(capacity - bytes.count)
        guard bytes.count < capacity || capacity == .max else { throw StorageError("write", "memory", code: ENOSPC) }
    }

    func sync() throws(StorageError) { if fails { throw StorageError("sync", "memory", code: EIO) } }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StorageError) -> Int {
        guard offset < length else { return 0 }
        let part = bytes[Int(offset)..<min(bytes.count, Int(offset) + buffer.count)]
        buffer.copyBytes(from: part)
        return part.count
    }

    func reserve(_ bytes: UInt64) throws(StorageError) {}
    func truncate(to length: UInt64) throws(StorageError) { bytes.removeSubrange(Int(length)...) }
}

/// Numbers that a seed determines.
struct Seeded: RandomNumberGenerator {
    private var numbers: SplitMix64

    init(_ seed: UInt64) { numbers = SplitMix64(seed: seed) }

    mutating func next() -> UInt64 { numbers.next() }
}
