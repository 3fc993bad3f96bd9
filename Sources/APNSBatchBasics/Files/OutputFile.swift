import Glibc
import Synchronization

/// A file that is replaced as a whole. Bytes are written to a temporary file in the same directory, which is renamed to
/// the path when all of them are on the disk. Readers never see a partial file, and an existing file survives every
/// failure.
///
/// An existing file is replaced only if it was made by this program. If a path is named, devices and pipes, such as
/// `/dev/null`, are written to directly.
///
/// May be used by one thread at a time.
package final class OutputFile: Sendable {
    /// The permissions of the file.
    package enum Readers: Sendable {
        /// Readable by the owner only: for keys, and for files with parts of rows, such as device tokens.
        case owner
        /// Readable by everyone, subject to the umask.
        case everybody
        /// Readable by everyone, whatever the umask: for programs of other users, such as a monitor.
        case otherPrograms

        fileprivate var mode: mode_t { self == .owner ? 0o600 : 0o644 }
    }

    /// What there may be at a path before the file is written.
    package enum Target: Sendable {
        /// What a caller names: a file, also behind a symbolic link, a character device or a pipe.
        case named
        /// Only a file, also behind a symbolic link: nothing that could hold up a run.
        case file
        /// Only a file, and no symbolic link, because it would lead out of a directory whose files are all written by this
        /// program.
        case own
    }

    /// How an existing file of the same kind is recognised.
    package struct Kind: Sendable {
        /// The description of the content in error messages, such as `the findings of a check`.
        package var name: String
        /// Returns whether a file was made by this program, given its beginning, at most 64 KiB.
        package var isOurs: @Sendable (_ start: [UInt8]) -> Bool
        package var target: Target

        package init(
            _ name: String, at target: Target = .named, isOurs: @escaping @Sendable (_ start: [UInt8]) -> Bool
        ) {
            self.name = name
            self.target = target
            self.isOurs = isOurs
        }

        /// Creates a kind of file that is recognised by its first bytes.
        package init(_ name: String, at target: Target = .named, startingWith mark: String) {
            self.init(name, at: target) { $0.starts(with: mark.utf8) }
        }
    }

    private let path: String
    /// The path of the temporary file; nil for a device or a pipe.
    private let unfinished: String?
    private let descriptor: Int32
    private let isFinished = Atomic(false)

    private static let startMax = 64 * 1024
    private static let number = Atomic<Int>(0)

    /// Creates the temporary file. At `path` there must be no file, an empty file, or an earlier file of this kind.
    package init(_ path: String, _ kind: Kind, readers: Readers) throws(OutputFileError) {
        switch try Self.place(path, kind) {
        case .file(let target):
            self.path = target
            (descriptor, unfinished) = try Self.makeBeside(target, readers)
        case .stream:
            self.path = path
            let stream = try Self.opened(path, O_WRONLY, Self.streams, "write")
            stream.makeBlocking()
            descriptor = stream.release()
            unfinished = nil
        }
    }

    /// Throws the error that `init` would throw because of the file at `path`, without changing anything.
    package static func check(_ path: String, _ kind: Kind) throws(OutputFileError) { _ = try place(path, kind) }

    deinit {
        close(descriptor)
        if let unfinished, !isFinished.load(ordering: .relaxed) { unsafe unlink(unfinished) }
    }

    private enum Place {
        /// A regular file, by its path with symbolic links resolved.
        case file(String)
        case stream
    }

    private static let streams: OpenFile.Kinds = [.device, .pipe, .fifo]

    private static func place(_ path: String, _ kind: Kind) throws(OutputFileError) -> Place {
        var facts = stat()
        if kind.target == .own, unsafe lstat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFLNK {
            throw .other(path, "a symbolic link")
        }
        guard unsafe stat(path, &facts) == 0 else {
            // A dangling symbolic link is not replaced either.
            let code = errno
            guard code == ENOENT, unsafe lstat(path, &facts) != 0 else {
                throw OutputFileError("create", path, code: code)
            }
            return .file(path)
        }
        if let found = OpenFile.kind(of: path), found != .file {
            guard kind.target == .named, streams.contains(found) else { throw .other(path, found.name) }
            return .stream
        }
        guard let resolved = unsafe realpath(path, nil) else { throw OutputFileError("create", path) }
        defer { unsafe free(resolved) }
        if facts.st_size > 0 {
            let start = try start(of: path)
            guard kind.isOurs(start) else { throw .foreign(path, wanted: kind.name) }
        }
        return .file(unsafe String(cString: resolved))
    }

    private static func start(of path: String) throws(OutputFileError) -> [UInt8] {
        let file = try opened(path, O_RDONLY, .file, "read")
        var start = [UInt8](repeating: 0, count: startMax)
        do {
            let count = try unsafe start.withUnsafeMutableBufferPointer { (room) throws(OpenFile.Refusal) in
                try unsafe file.read(into: UnsafeMutableRawBufferPointer(room))
            }
            start.removeSubrange(count...)
        } catch {
            throw refusal(error, path, "read")
        }
        return start
    }

    private static func opened(
        _ path: String, _ flags: Int32, _ kinds: OpenFile.Kinds, _ action: String
    ) throws(OutputFileError) -> OpenFile {
        do {
            return try OpenFile(path, flags, kinds)
        } catch {
            throw refusal(error, path, action)
        }
    }

    private static func refusal(_ refusal: OpenFile.Refusal, _ path: String, _ action: String) -> OutputFileError {
        switch refusal {
        // The other end of a FIFO is missing.
        case .system(ENXIO): .other(path, "a FIFO that nobody reads")
        case .system(let code): .system(action: action, path: path, code: code)
        case .kind(let kind): .other(path, kind.name)
        }
    }

    /// Creates a temporary file in the same directory.
    private static func makeBeside(_ path: String, _ readers: Readers) throws(OutputFileError) -> (Int32, String) {
        let slash = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        while true {
            let number = number.add(1, ordering: .relaxed).newValue
            let name = "\(path[..<slash]).\(path[slash...]).\(getpid())-\(number)"
            let file = unsafe open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, readers.mode)
            if file >= 0 {
                if readers == .otherPrograms { fchmod(file, readers.mode) }
                return (file, name)
            }
            guard errno == EEXIST else { throw OutputFileError("create", path) }
        }
    }

    /// Appends bytes to the file.
    package func write(_ bytes: Span<UInt8>) throws(OutputFileError) {
        var written = 0
        while written < bytes.count {
            let rest = bytes.extracting(droppingFirst: written)
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw OutputFileError("write", path, code: count < 0 ? errno : ENOSPC) }
            written += count
        }
    }

    /// Appends bytes to the file.
    package func write(_ bytes: [UInt8]) throws(OutputFileError) { try write(bytes.span) }

    /// Syncs the temporary file and renames it to the path. Without this call, the temporary file is removed on deinit.
    ///
    /// - Parameter isDurable: Whether to sync. Without that, a power failure may leave an empty file.
    package func finish(isDurable: Bool = true) throws(OutputFileError) {
        guard let unfinished, !isFinished.load(ordering: .relaxed) else { return }
        if isDurable { try sync() }
        guard unsafe rename(unfinished, path) == 0 else { throw OutputFileError("write", path) }
        isFinished.store(true, ordering: .relaxed)
    }

    /// Like `finish`, but replaces nothing: returns false if there is a file at the path.
    private func finishIfFree() throws(OutputFileError) -> Bool {
        guard let unfinished else { return false }
        try sync()
        if unsafe link(unfinished, path) == 0 { return true }
        guard errno == EEXIST else { throw OutputFileError("create", path) }
        return false
    }

    private func sync() throws(OutputFileError) {
        while fsync(descriptor) != 0 {
            guard errno == EINTR else { throw OutputFileError("write", path) }
        }
    }

    /// Writes a complete file; on failure the existing file is unchanged.
    package static func write(
        _ bytes: [UInt8], to path: String, _ kind: Kind, readers: Readers, isDurable: Bool = true
    ) throws(OutputFileError) {
        let file = try OutputFile(path, kind, readers: readers)
        try file.write(bytes)
        try file.finish(isDurable: isDurable)
    }

    /// Creates a complete file if there is none at the path. Of several processes that call it at the same time, one
    /// succeeds.
    ///
    /// - Returns: False if there is a file, which is left unchanged.
    package static func create(_ bytes: [UInt8], at path: String, readers: Readers) throws(OutputFileError) -> Bool {
        var facts = stat()
        guard unsafe lstat(path, &facts) != 0 else { return false }
        let file = try OutputFile(path, Kind("") { _ in false }, readers: readers)
        try file.write(bytes)
        return try file.finishIfFree()
    }
}
