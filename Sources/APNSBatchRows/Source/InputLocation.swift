import APNSBatchBasics
import Glibc

/// The location of an input.
package enum InputLocation: Sendable {
    /// The path of a regular file, a FIFO or a device. The reader opens it, and closes it when it is deallocated.
    case file(String)

    /// The path of a regular file, which is no symbolic link: a file that this program has written.
    case kept(String)

    /// The paths of regular files whose rows follow each other. The reader enters them into the parts.
    case files([String], InputParts)

    /// A descriptor owned by the caller. It is not closed, and its flags are not changed.
    case descriptor(Int32)

    /// Rows that a program makes.
    case program(RowPipe)

    /// What a program writes to standard output. Opening the input starts the program.
    case producer(Producer)

    /// Bytes that are made elsewhere in this process.
    case origin(Origin)

    /// Bytes that are kept while they are read.
    case spooled(SpooledSource)

    /// Descriptor 0.
    package static let standardInput = InputLocation.descriptor(0)

    /// Opens the input.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of bytes to read of a regular file; nil for all.
    ///   - windowLog: the binary logarithm of the largest window, in bytes, that a zstd frame may need.
    ///   - format: the format, which determines whether each of several files has a header row.
    /// - Throws: `InputError.cannotOpen`, `.cannotRead`, `.ofProducer`.
    func open(
        limit: UInt64?, windowLog: Int = RowLimits.standard.zstdWindowLog, format: FormatChoice = .csv(.comma)
    ) throws(InputError) -> any ByteSource {
        let descriptor: InputDescriptor
        switch self {
        case .file(let path), .kept(let path):
            do throws(OpenFile.Refusal) {
                descriptor = try isKept ? InputDescriptor(kept: path) : InputDescriptor(path: path)
            } catch {
                throw cannotOpen(Self.code(of: error))
            }
        case .descriptor(let number): descriptor = InputDescriptor(borrowed: number)
        case .files(let paths, let parts):
            return try FilesSource(paths, windowLog: windowLog, format: format, parts: parts)
        case .program(let pipe): return pipe
        case .spooled(let source): return source
        case .origin(let origin): return PackedSource(try OriginSource(origin), windowLog: windowLog)
        case .producer(let producer): return PackedSource(try ProducerSource(producer), windowLog: windowLog)
        }
        var status = stat()
        guard descriptor.number >= 0, unsafe fstat(descriptor.number, &status) == 0 else { throw cannotOpen(errno) }
        let kind = status.st_mode & S_IFMT
        if kind == S_IFDIR { throw cannotOpen(EISDIR) }
        // Files in /proc and the like report size 0, but are not empty.
        if kind == S_IFREG, status.st_size > 0 {
            let start = lseek(descriptor.number, 0, SEEK_CUR)
            if 0...status.st_size ~= start {
                let size = UInt64(status.st_size - start)
                let file = FileSource(descriptor, start: UInt64(start), size: min(size, limit ?? .max))
                return try file.isPacked() ? PackedSource(file, windowLog: windowLog) : file
            }
        }
        guard let stream = StreamSource(descriptor) else { throw cannotOpen(errno) }
        return PackedSource(stream, windowLog: windowLog)
    }

    private static func code(of refusal: OpenFile.Refusal) -> Int32 {
        switch refusal {
        case .system(let code): code
        case .kind(.directory): EISDIR
        case .kind(.fifo): ESPIPE
        // Not ENXIO or ENODEV, which an unplugged disk gives, and which may pass.
        case .kind: EOPNOTSUPP
        }
    }

    private var isKept: Bool { if case .kept = self { true } else { false } }

    private func cannotOpen(_ code: Int32) -> InputError {
        let path =
            switch self {
            case .file(let path), .kept(let path): path
            case .descriptor(0): "standard input"
            case .descriptor(let number): "descriptor \(number)"
            case .files(let paths, _): paths.joined(separator: ", ")
            case .program, .spooled: "the rows of the program"
            case .origin(let origin): origin.name
            case .producer(let producer): producer.arguments[0]
            }
        return .cannotOpen(path: path, errno: code)
    }
}

/// A descriptor that is closed in `deinit`, unless the caller owns it.
struct InputDescriptor: ~Copyable {
    let number: Int32
    private let isOwned: Bool

    /// Opens whatever can be read to its end. It does not wait for the writer of a FIFO, because that could not be cancelled.
    init(path: String) throws(OpenFile.Refusal) {
        (number, isOwned) = (try OpenFile(path, O_RDONLY, [.file, .pipe, .fifo, .device]).release(), true)
    }

    init(kept path: String) throws(OpenFile.Refusal) {
        (number, isOwned) = (try OpenFile(path, O_RDONLY | O_NOFOLLOW).release(), true)
    }

    init(borrowed number: Int32) { (self.number, isOwned) = (number, false) }

    init(owned number: Int32) { (self.number, isOwned) = (number, true) }

    deinit { if isOwned, number >= 0 { close(number) } }
}

/// The ends of a pipe, which programs that this process starts do not inherit.
struct Pipe: ~Copyable {
    let reader: InputDescriptor
    let writer: InputDescriptor

    /// Returns nil, with `errno` set, if no pipe can be created.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        reader = InputDescriptor(owned: ends[0])
        writer = InputDescriptor(owned: ends[1])
    }
}
