import Glibc

/// Where the bytes of an input are.
package enum InputLocation: Sendable, Equatable {
    /// A path: a regular file, a FIFO or a device. It is opened by the reader and closed with it.
    case file(String)

    /// A descriptor that stays the caller's: it is neither closed nor are its flags changed.
    case descriptor(Int32)

    /// Descriptor 0.
    package static let standardInput = InputLocation.descriptor(0)

    /// - Parameter limit: no more bytes than that are read of a file that has more.
    /// - Throws: `InputError.cannotOpen`.
    func open(limit: UInt64?) throws(InputError) -> any ByteSource {
        let descriptor = InputDescriptor(self)
        var status = stat()
        guard descriptor.number >= 0, unsafe fstat(descriptor.number, &status) == 0 else { throw cannotOpen(errno) }
        let kind = status.st_mode & S_IFMT
        if kind == S_IFDIR { throw cannotOpen(EISDIR) }
        // Files of /proc and the like say that they are empty and are not.
        if kind == S_IFREG, status.st_size > 0 {
            let start = lseek(descriptor.number, 0, SEEK_CUR)
            if 0...status.st_size ~= start {
                let size = UInt64(status.st_size - start)
                return FileSource(descriptor, start: UInt64(start), byteCount: min(size, limit ?? .max))
            }
        }
        guard let source = StreamSource(descriptor) else { throw cannotOpen(errno) }
        return source
    }

    private func cannotOpen(_ code: Int32) -> InputError {
        let path =
            switch self {
            case .file(let path): path
            case .descriptor(0): "standard input"
            case .descriptor(let number): "descriptor \(number)"
            }
        return .cannotOpen(path: path, errno: code)
    }
}

/// A descriptor that is closed with its owner, unless it is the caller's.
struct InputDescriptor: ~Copyable {
    let number: Int32
    private let isOwned: Bool

    init(_ location: InputLocation) {
        switch location {
        // Opening a FIFO must not wait for its writer, where nobody could cancel it.
        case .file(let path): (number, isOwned) = unsafe (Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), true)
        case .descriptor(let number): (self.number, isOwned) = (number, false)
        }
    }

    init(owned number: Int32) { (self.number, isOwned) = (number, true) }

    deinit { if isOwned, number >= 0 { close(number) } }
}
