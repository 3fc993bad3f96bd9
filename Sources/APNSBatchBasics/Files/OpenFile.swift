import CAPNSCommon
import Glibc

/// A file that was opened by its path, and is of a kind that its user expects.
///
/// Every file that this project opens by a path is opened here. Opening never waits, as it would for the other end of a FIFO, and
/// what is not expected is refused before a byte of it is read or written: a FIFO or a device in the place of a file could hold up
/// the process for ever.
@safe package struct OpenFile: ~Copyable {
    package let descriptor: Int32
    package let facts: stat

    /// Kinds of files.
    package struct Kinds: OptionSet, Sendable {
        package let rawValue: Int

        package init(rawValue: Int) { self.rawValue = rawValue }

        /// A regular file.
        package static let file = Kinds(rawValue: 1)
        /// A pipe without a name, such as a process substitution, which has the path `/dev/fd/63`.
        package static let pipe = Kinds(rawValue: 2)
        /// A pipe with a name. A reader waits for a writer.
        package static let fifo = Kinds(rawValue: 4)
        /// A character device, such as a terminal or `/dev/null`.
        package static let device = Kinds(rawValue: 8)
        package static let directory = Kinds(rawValue: 16)
        package static let disk = Kinds(rawValue: 32)
        package static let socket = Kinds(rawValue: 64)

        /// The kind in a message, such as `a FIFO`.
        package var name: String {
            switch self {
            case .file: "a file"
            case .pipe: "a pipe"
            case .fifo: "a FIFO"
            case .directory: "a directory"
            case .socket: "a socket"
            default: "a device"
            }
        }

        fileprivate init(_ facts: stat, isNameless: () -> Bool) {
            self =
                switch facts.st_mode & S_IFMT {
                case S_IFREG: .file
                case S_IFIFO: isNameless() ? .pipe : .fifo
                case S_IFDIR: .directory
                case S_IFBLK: .disk
                case S_IFSOCK: .socket
                default: .device
                }
        }
    }

    /// Why a file is not opened.
    package enum Refusal: Error, Equatable, Sendable {
        case system(Int32)
        /// It is of a kind that is not expected.
        case kind(Kinds)
    }

    /// - Parameters:
    ///   - flags: Those of `open(2)`.
    ///   - kinds: What the file may be.
    ///   - mode: The permissions of a file that is made.
    package init(_ path: String, _ flags: Int32, _ kinds: Kinds = .file, mode: mode_t = 0o600) throws(Refusal) {
        // Looking first spares a FIFO's writer a reader that goes away at once, and a device what opening it does. What is opened
        // may be something else.
        if let kind = Self.kind(of: path), !kinds.contains(kind) { throw .kind(kind) }
        let opened = unsafe open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, mode)
        guard opened >= 0 else { throw .system(errno) }
        var facts = stat()
        guard unsafe fstat(opened, &facts) == 0 else {
            let code = errno
            close(opened)
            throw .system(code)
        }
        let kind = Kinds(facts) { apns_nameless_pipe(nil, opened) != 0 }
        guard kinds.contains(kind) else {
            close(opened)
            throw .kind(kind)
        }
        (descriptor, self.facts) = (opened, facts)
    }

    deinit { close(descriptor) }

    /// Returns the kind of the file at a path, with links followed; nil if there is none.
    package static func kind(of path: String) -> Kinds? {
        var facts = stat()
        guard unsafe stat(path, &facts) == 0 else { return nil }
        return Kinds(facts) { unsafe apns_nameless_pipe(path, -1) != 0 }
    }

    /// Lets reads and writes wait for the other end of a pipe.
    package func makeBlocking() { _ = fcntl(descriptor, F_SETFL, 0) }

    /// Returns the descriptor, which the caller closes.
    package consuming func release() -> Int32 {
        let descriptor = descriptor
        discard self
        return descriptor
    }

    /// Reads into `room` until it is full or the file ends. Returns the number of bytes.
    package func read(into room: UnsafeMutableRawBufferPointer) throws(Refusal) -> Int {
        var length = 0
        while length < room.count {
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: room[length...])
            let count = unsafe Glibc.read(descriptor, rest.baseAddress, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system(errno) }
            if count == 0 { break }
            length += count
        }
        return length
    }

    /// Returns the content of a regular file.
    ///
    /// - Parameter most: The largest size; a larger file is refused with `EFBIG`.
    package static func content(of path: String, most: Int) throws(Refusal) -> [UInt8] {
        let file = try OpenFile(path, O_RDONLY)
        guard file.facts.st_size <= most else { throw .system(EFBIG) }
        // Files in /proc and the like report size 0, but are not empty.
        var bytes = [UInt8](repeating: 0, count: file.facts.st_size > 0 ? Int(file.facts.st_size) : most)
        let count = try unsafe bytes.withUnsafeMutableBufferPointer { (room) throws(Refusal) in
            try unsafe file.read(into: UnsafeMutableRawBufferPointer(room))
        }
        bytes.removeSubrange(count...)
        return bytes
    }
}

extension OpenFile.Refusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .system(let code): systemMessage(code)
        case .kind(let kind): "it is \(kind.name), not a file"
        }
    }
}
