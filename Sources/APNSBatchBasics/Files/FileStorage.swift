import CAPNSCommon
import Glibc

/// A file on disk. Every write goes to its end (`O_APPEND`): if another process truncates the file meanwhile, no hole
/// results, and `confirmLength` notices that the file is too short.
///
/// It truncates only what it has read, and writes nothing after it has released its lock: whatever another object or process has written
/// since stays.
package final class FileStorage: AppendFile, @unchecked Sendable {
    private let path: String
    private let descriptor: Int32
    package private(set) var length: UInt64
    /// The end of the reserved disk space, as an offset. Space is reserved in steps, and then `reserved` is never below
    /// `length`.
    private var reserved: UInt64
    /// The step in bytes, so that not every range costs a system call.
    private static let reserveStep: UInt64 = 1 << 20
    /// The number of bytes that a failed write may have left in the file beyond `length`.
    private var doubtful: UInt64 = 0
    private var lockState = LockState.never
    /// The file when its lock was taken; nil after this object has changed it.
    private var untouched: FileStamp?

    private enum LockState {
        /// The file is used without a lock.
        case never
        case held
        case released
    }

    /// Whether the file must exist.
    package enum Opening: Sendable {
        /// The file must not exist.
        case new
        /// The file must exist.
        case existing
        case either
        case readOnly
    }

    /// Opens or creates a file. Only the owner may read a new file, because it holds whole device tokens.
    package init(_ path: String, _ opening: Opening) throws(StorageError) {
        self.path = path
        let flags =
            switch opening {
            case .new: O_RDWR | O_APPEND | O_CREAT | O_EXCL
            case .existing: O_RDWR | O_APPEND
            case .either: O_RDWR | O_APPEND | O_CREAT
            case .readOnly: O_RDONLY
            }
        let file = try StorageError.opening(path, flags | O_NOFOLLOW)
        length = UInt64(file.facts.st_size)
        descriptor = file.release()
        reserved = length
    }

    deinit { close(descriptor) }

    /// Makes the entries of a directory durable.
    package static func syncDirectory(_ path: String) throws(StorageError) {
        let directory = try StorageError.opening(path, O_RDONLY | O_DIRECTORY, .directory)
        // Some file systems cannot sync a directory.
        guard fsync(directory.descriptor) == 0 || errno == EINVAL else { throw StorageError("sync", path, code: errno) }
    }

    package func append(_ bytes: UnsafeRawBufferPointer) throws(StorageError) {
        try beginChange("write")
        var written = 0
        while written < bytes.count {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
            let done = unsafe write(descriptor, rest.baseAddress, rest.count)
            if done < 0, errno == EINTR { continue }
            guard done > 0 else {
                let code = done < 0 ? errno : ENOSPC
                doubtful = UInt64(rest.count)
                throw StorageError("write", path, code: code)
            }
            length += UInt64(done)
            written += done
        }
    }

    package func sync() throws(StorageError) {
        while fdatasync(descriptor) != 0 {
            // The file system may have dropped what it could not write, so a second call could succeed wrongly.
            guard errno == EINTR else { throw StorageError("sync", path, code: errno) }
        }
    }

    /// Reserves space without changing the file's size, so that readers find the end where the last append ended.
    package func reserve(_ bytes: UInt64) throws(StorageError) {
        guard length + bytes > reserved else { return }
        try beginChange("reserve space for")
        var wanted = (length + bytes + Self.reserveStep - 1) / Self.reserveStep * Self.reserveStep
        var code = -apns_reserve(descriptor, max(reserved, length), wanted)
        if code == ENOSPC {
            wanted = length + bytes
            code = -apns_reserve(descriptor, max(reserved, length), wanted)
        }
        if Self.unableCodes.contains(code) {
            reservationFailure = StorageError("reserve space for", path, code: code)
        } else if code != 0 {
            throw StorageError("reserve space for", path, code: code)
        }
        reserved = wanted
    }

    /// Errors of file systems, kernels and containers that do not support reservation. Writing continues without it.
    private static let unableCodes = [EOPNOTSUPP, ENOSYS, EINVAL, EPERM]

    package private(set) var reservationFailure: StorageError?

    package func confirmLength() throws(StorageError) {
        let facts = try facts()
        // What is left of a failed write is this object's own.
        let isKnown = length...length + doubtful ~= UInt64(facts.st_size)
        guard isKnown, facts.st_nlink > 0, untouched == nil || untouched == FileStamp(facts) else {
            throw StorageError("write", path, code: StorageError.changed)
        }
    }

    package func confirmHeld() throws(StorageError) {
        guard lockState == .held else { throw StorageError("write", path, code: StorageError.released) }
        let mine = FileStamp(try facts())
        var named = stat()
        guard unsafe lstat(path, &named) == 0, FileStamp(named).isSameFile(as: mine) else {
            throw StorageError("write", path, code: StorageError.changed)
        }
    }

    package var stamp: FileStamp? { (try? facts()).map { FileStamp($0) } }

    private func facts() throws(StorageError) -> stat {
        var facts = stat()
        guard unsafe fstat(descriptor, &facts) == 0 else { throw StorageError("get the size of", path, code: errno) }
        return facts
    }

    /// Throws if the lock was released. Otherwise the file is about to differ from what it was when the lock was taken.
    private func beginChange(_ action: String) throws(StorageError) {
        try confirmNotReleased(action)
        untouched = nil
    }

    private func confirmNotReleased(_ action: String) throws(StorageError) {
        guard lockState != .released else { throw StorageError(action, path, code: StorageError.released) }
    }

    package func read(
        at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer
    ) throws(StorageError) -> Int {
        var count = 0
        while count < buffer.count {
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
            let got = unsafe pread(descriptor, rest.baseAddress, rest.count, off_t(offset) + count)
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw StorageError("read", path, code: errno) }
            if got == 0 { break }
            count += got
        }
        return count
    }

    /// Takes the length that the file has now, for a file that another process, or another object of this one, appends to.
    package func refreshLength() throws(StorageError) { length = UInt64(try facts().st_size) }

    package func truncate(to length: UInt64) throws(StorageError) {
        try confirmNotReleased("cut")
        try confirmLength()
        untouched = nil
        guard ftruncate(descriptor, off_t(length)) == 0 else { throw StorageError("cut", path, code: errno) }
        (self.length, reserved, doubtful) = (length, length, 0)
    }

    /// Takes the exclusive lock, which ends with the process; returns false if another process holds it.
    package func lock() throws(StorageError) -> Bool {
        guard try flocks(LOCK_EX) else { return false }
        // The previous holder may have appended since the file was opened.
        let facts = try facts()
        length = UInt64(facts.st_size)
        reserved = length
        (lockState, untouched) = (.held, FileStamp(facts))
        return true
    }

    /// Takes the lock like `lock`, but retries, because `isLocked` of another process holds the lock for an instant.
    package func lockPatiently() throws(StorageError) -> Bool {
        for _ in 0..<20 {
            if try lock() { return true }
            usleep(50_000)
        }
        return try lock()
    }

    /// Whether another process holds the exclusive lock. Takes the shared lock for an instant, so concurrent calls do not
    /// conflict.
    package func isLocked() throws(StorageError) -> Bool {
        guard try flocks(LOCK_SH) else { return true }
        flock(descriptor, LOCK_UN)
        return false
    }

    package func unlock() {
        if lockState == .held { lockState = .released }
        flock(descriptor, LOCK_UN)
    }

    private func flocks(_ kind: Int32) throws(StorageError) -> Bool {
        while flock(descriptor, kind | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return false }
            guard errno == EINTR else { throw StorageError("lock", path, code: errno) }
        }
        return true
    }
}

extension StorageError {
    /// Whether the file does not exist.
    package var isMissing: Bool { code == ENOENT }

    /// Whether it does not exist, or cannot, because what would be its directory is none.
    package var isAbsent: Bool { code == ENOENT || code == ENOTDIR }
}

extension FileStamp {
    init(_ facts: stat) {
        device = UInt64(facts.st_dev)
        number = UInt64(facts.st_ino)
        length = Int64(facts.st_size)
        written = Int64(facts.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(facts.st_mtim.tv_nsec)
    }

    func isSameFile(as other: FileStamp) -> Bool { device == other.device && number == other.number }
}
