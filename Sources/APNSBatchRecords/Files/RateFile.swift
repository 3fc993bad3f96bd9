import APNSBatchBasics
import APNSBatchModel
import Glibc

/// The file in which processes on one machine share the state of a limit of requests per second: a mark, the boot id of the
/// system and the words of the limit. Times of another boot mean nothing, so the words are then set to 0.
package enum RateFile {
    /// The words before those of the limit: the mark and the two halves of the boot id.
    package static let headWords = 3
    /// `APNSRAT1`.
    private static let mark: UInt64 = 0x4150_4E53_5241_5431

    /// Opens the file, or creates it, readable and writable by its owner only.
    ///
    /// - Parameter words: the number of words of the limit.
    /// - Throws: an error with the code `configuration`, also if the file holds something else.
    package static func open(_ path: String, words: Int) throws(CampaignError) -> MappedWords {
        try CampaignError.mapping(.configuration) { () throws(StorageError) in
            let file = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
            guard file >= 0 else { throw StorageError("open", path, code: errno) }
            defer { close(file) }
            while flock(file, LOCK_EX) != 0 {
                guard errno == EINTR else { throw StorageError("lock", path, code: errno) }
            }
            // The lock would last as long as the mapping, which keeps the file open.
            defer { flock(file, LOCK_UN) }
            return try map(file, path, words: words)
        }
    }

    private static func map(_ file: Int32, _ path: String, words: Int) throws(StorageError) -> MappedWords {
        let boot = BootID.read()
        let count = headWords + words
        var head = [UInt64](repeating: 0, count: headWords)
        let found = pread(file, &head, headWords * 8, 0)
        guard found >= 0 else { throw StorageError("read", path, code: errno) }
        // An empty file is new, and a shorter one was cut off while it was being made.
        guard found < headWords * 8 || UInt64(littleEndian: head[0]) == mark else {
            throw StorageError("use", path, code: EEXIST)
        }
        let isCurrent = found == headWords * 8 && (head[1], head[2]) == boot && boot != (0, 0)
        let mapped = try MappedWords(file, path: path, count: count, erasing: !isCurrent)
        if !isCurrent {
            mapped[1].pointee.store(boot.0, ordering: .relaxed)
            mapped[2].pointee.store(boot.1, ordering: .relaxed)
            mapped[0].pointee.store(mark.littleEndian, ordering: .releasing)
        }
        return mapped
    }
}
