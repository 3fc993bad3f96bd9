import APNSBatchBasics
import Glibc
import Synchronization

/// Words in memory that threads, and processes that map the same file, read and write as atomics. The system writes them to
/// the file some time later; they survive the end of the process, but not a loss of power.
package final class MappedWords: @unchecked Sendable {
    package let count: Int
    private let words: UnsafeMutablePointer<Atomic<UInt64>>
    private let isMapped: Bool

    /// Creates words in the memory of this process, without a file. All are 0.
    package init(count: Int) {
        self.count = count
        words = .allocate(capacity: count)
        for index in 0..<count { (words + index).initialize(to: Atomic(0)) }
        isMapped = false
    }

    /// Maps the first words of an open file. The descriptor may be closed afterwards.
    ///
    /// - Parameters:
    ///   - path: the path of the file, for errors.
    ///   - erasing: whether the words are set to 0 first. A file that is too short always is: writing zeros allocates its
    ///     blocks now, because on a full disk a store to the mapping would raise SIGBUS.
    package init(_ file: Int32, path: String, count: Int, erasing: Bool) throws(StorageError) {
        let bytes = count * 8
        var facts = stat()
        guard fstat(file, &facts) == 0 else { throw StorageError("read", path, code: errno) }
        if erasing || facts.st_size < bytes {
            let zeros = [UInt64](repeating: 0, count: count)
            let done = pwrite(file, zeros, bytes, 0)
            guard done == bytes else { throw StorageError("write", path, code: done < 0 ? errno : ENOSPC) }
        }
        guard let base = mmap(nil, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), base != MAP_FAILED else {
            throw StorageError("map", path, code: errno)
        }
        self.count = count
        words = base.bindMemory(to: Atomic<UInt64>.self, capacity: count)
        isMapped = true
    }

    deinit {
        // Whole pages: of parts of pages the thread sanitizer remembers who used them, although others do when the system maps
        // something else there.
        if isMapped { munmap(words, (count * 8 + 4095) / 4096 * 4096) } else { words.deallocate() }
    }

    package subscript(index: Int) -> UnsafeMutablePointer<Atomic<UInt64>> {
        precondition(index >= 0 && index < count)
        return words + index
    }
}
