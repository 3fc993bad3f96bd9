import APNSBatchBasics
import APNSBatchModel
import Glibc

/// The state of a limit of requests per second. The times are those of the monotonic clock, in nanoseconds.
package struct RateWords: Equatable, Sendable {
    /// When the next request is due.
    package var due: UInt64 = 0
    /// When the last ramp began.
    package var rampBegan: UInt64 = 0

    package init() {}
}

/// The file in which processes on one machine share the state of a limit: a mark, the boot id of the system and the words of
/// the limit. Times of another boot mean nothing, so the words are then set to 0.
///
/// The file is read and written, and never mapped: if another program cuts it off, a mapping of it would end this process with a
/// signal. Then the last state of this process is written to the file again.
package final class RateFile: Sendable {
    /// What is remembered between two uses of the file.
    private struct Memory {
        var words = RateWords()
        /// The lock is not tried again before this time, because a process that does not run holds it.
        var lockFreeUntil: UInt64 = 0
    }

    /// What the file holds.
    private enum Found {
        case words(RateWords)
        /// The file is empty, or was cut off, or is of another boot.
        case nothing
        /// Another program has written something else into it.
        case foreign
    }

    private let descriptor: Int32
    private let boot = BootID.read()
    /// Threads of this process share the descriptor, so that its lock excludes only other processes.
    private let memory = Guarded(Memory())

    /// `APNSRAT1`.
    private static let mark: UInt64 = 0x4150_4E53_5241_5431
    /// The mark, the two halves of the boot id, and the two words.
    private static let count = 5
    /// How long to wait for the lock, and how long to do without it after that, in nanoseconds. It is held for some
    /// microseconds, unless a process is stopped meanwhile.
    private static let lockPatience: UInt64 = 20_000_000
    private static let lockFree: UInt64 = 1_000_000_000

    /// Opens the file, or creates it, readable and writable by its owner only.
    ///
    /// - Throws: An error with the code `configuration`, also if the file holds something else, or if others may write to it.
    package init(_ path: String) throws(CampaignError) {
        descriptor = try CampaignError.mapping(.configuration) { () throws(StorageError) in
            let file = try StorageError.opening(path, O_RDWR | O_CREAT | O_NOFOLLOW)
            guard file.facts.st_uid == geteuid() else { throw StorageError("use", path, code: StorageError.notOwn) }
            guard file.facts.st_mode & 0o022 == 0 else { throw StorageError("use", path, code: StorageError.shared) }
            return file.release()
        }
        guard case .foreign = find() else { return }
        throw CampaignError(.configuration, "\(StorageError("use", path, code: EEXIST))")
    }

    deinit { close(descriptor) }

    /// Throws what ``init(_:)`` would throw, and leaves nothing behind.
    package static func attempt(_ path: String) throws(CampaignError) {
        var facts = stat()
        if unsafe lstat(path, &facts) == 0 {
            _ = try RateFile(path)
        } else {
            try CampaignError.mapping(.configuration) {
                try DirectoryTrial.makeFile(in: DirectoryTrial.parent(of: path), for: path)
            }
        }
    }

    /// Returns the state at this moment.
    package func read() -> RateWords {
        if case .words(let words) = find() { return words }
        return memory.withLock(\.words)
    }

    /// Changes the state. No other process changes it meanwhile.
    package func update<Result>(_ change: (inout RateWords) -> Result) -> Result {
        memory.withLock { memory in
            let isLocked = lock(&memory)
            defer { if isLocked { flock(descriptor, LOCK_UN) } }
            let found = find()
            var words = memory.words
            if case .words(let known) = found { words = known }
            let before = words
            let result = change(&words)
            memory.words = words
            switch found {
            case .words: if words != before { store(words) }
            case .nothing: store(words)
            case .foreign: break
            }
            return result
        }
    }

    private func lock(_ memory: inout Memory) -> Bool {
        let begin = SystemClock.monotonic()
        guard begin >= memory.lockFreeUntil else { return false }
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let now = SystemClock.monotonic()
            guard errno == EINTR || errno == EWOULDBLOCK, now < begin + Self.lockPatience else {
                memory.lockFreeUntil = now + Self.lockFree
                return false
            }
            usleep(20)
        }
        return true
    }

    private func find() -> Found {
        var words = [UInt64](repeating: 0, count: Self.count)
        let count = unsafe pread(descriptor, &words, Self.count * 8, 0)
        // A file that was cut off while it was being made is new.
        guard count >= 8 else { return count > 0 ? .foreign : .nothing }
        guard UInt64(littleEndian: words[0]) == Self.mark else {
            return words.allSatisfy { $0 == 0 } ? .nothing : .foreign
        }
        guard count == Self.count * 8, (words[1], words[2]) == boot, boot != (0, 0) else { return .nothing }
        var found = RateWords()
        (found.due, found.rampBegan) = (words[3], words[4])
        return .words(found)
    }

    /// What cannot be written, because the disk is full after the file was cut off, stays in the memory of this process.
    private func store(_ words: RateWords) {
        let all = [Self.mark.littleEndian, boot.0, boot.1, words.due, words.rampBegan]
        _ = unsafe pwrite(descriptor, all, Self.count * 8, 0)
    }
}
