import APNSBatchBasics
import Glibc
import Synchronization

/// The rows of several files, one after the other: their bytes without the header rows, which must be the same, of those after the first.
/// Each may be packed. NDJSON has no header rows.
final class FilesSource: ByteSource {
    let storedSize: UInt64?
    let modified: UInt64?
    let isLive = false

    /// Held while a thread reads.
    private let reading: Guarded<FilesReading>
    private let progress = FilesProgress()

    /// Looks at each file: whether it is a regular file, and has the header row of the first.
    ///
    /// - Throws: `InputError.inFile` with `cannotOpen`, `sameFile`, `otherFormat`, `otherHeader`, `noHeader`, `foreign` and the errors of
    ///   reading.
    init(_ paths: [String], windowLog: Int, format choice: FormatChoice, parts: InputParts) throws(InputError) {
        var header: [UInt8] = []
        var format: RowFormat?
        var (size, oldest): (UInt64, UInt64?) = (0, nil)
        var seen: [FileIdentity: String] = [:]
        for (index, path) in paths.enumerated() {
            try FilesReading.located(path) { () throws(InputError) in
                let identity = try FileIdentity(of: path)
                if let first = seen.updateValue(path, forKey: identity) { throw .sameFile(first) }
                let opened = try OpenedFile(path, windowLog: windowLog, format: choice)
                if index == 0 { (header, format) = (opened.header, opened.format) }
                try opened.check(format, header)
                size += opened.source.storedSize ?? 0
                if let time = opened.source.modified { oldest = min(oldest ?? time, time) }
            }
        }
        (storedSize, modified) = (size, oldest)
        reading = Guarded(
            FilesReading(
                paths, windowLog: windowLog, choice, parts, format: format, header: header, progress: progress))
    }

    func storedBytes(read: UInt64) -> UInt64 { progress.storedRead.load(ordering: .relaxed) }
    var filesRead: [CopiedInput.File] { progress.ended.withLock { $0 } }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Int {
        let room = unsafe LentBytes(bytes: buffer)
        return try reading.withLock { (reading) throws(InputError) in try unsafe reading.read(into: room.bytes) }
    }

    func cancel() { progress.isCancelled.store(true, ordering: .relaxed) }
}

/// What other threads see of the reading of several files.
private final class FilesProgress: Sendable {
    let isCancelled = Atomic(false)
    let storedRead = Atomic<UInt64>(0)
    let ended = Guarded<[CopiedInput.File]>([])
}

/// The reading of several files, by one thread at a time.
private final class FilesReading {
    private let paths: [String]
    private let windowLog: Int
    private let choice: FormatChoice
    private let parts: InputParts
    private let format: RowFormat?
    /// The header row of the first file, without its line end; empty if the format has none.
    private let header: [UInt8]
    private let progress: FilesProgress

    private var next = 0
    private var file: OpenedFile?
    /// Bytes that come before those that are read next.
    private var ahead: [UInt8] = []
    /// The number of line feeds that were given out, and whether the last byte was one.
    private var lines: UInt64 = 0
    private var isAtLineStart = true
    /// The number of stored bytes of files that were read to their end.
    private var storedBefore: UInt64 = 0

    init(
        _ paths: [String], windowLog: Int, _ choice: FormatChoice, _ parts: InputParts, format: RowFormat?,
        header: [UInt8], progress: FilesProgress
    ) {
        (self.paths, self.windowLog, self.choice, self.parts) = (paths, windowLog, choice, parts)
        (self.format, self.header, self.progress) = (format, header, progress)
    }

    static func located(_ path: String, _ body: () throws(InputError) -> Void) throws(InputError) {
        do throws(InputError) { try body() } catch {
            if case .cancelled = error { throw error }
            throw .inFile(path, "\(error.message(input: path))", mayPass: error.mayPass)
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Int {
        while true {
            if progress.isCancelled.load(ordering: .relaxed) { throw .cancelled }
            if !ahead.isEmpty {
                let count = unsafe takeAhead(into: buffer)
                return unsafe give(count, UnsafeRawBufferPointer(buffer))
            }
            guard let file else {
                guard next < paths.count else { return 0 }
                try open(paths[next])
                next += 1
                continue
            }
            var got = 0
            try Self.located(file.path) { () throws(InputError) in got = try unsafe file.read(into: buffer) }
            note(file)
            if got > 0 { return unsafe give(got, UnsafeRawBufferPointer(buffer)) }
            end(file)
        }
    }

    private func takeAhead(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(ahead.count, buffer.count)
        unsafe buffer.copyBytes(from: ahead.prefix(count))
        ahead.removeFirst(count)
        return count
    }

    /// Notes that bytes are given out, and returns their number.
    private func give(_ count: Int, _ bytes: UnsafeRawBufferPointer) -> Int {
        lines += unsafe UInt64(bytes[..<count].count { $0 == Byte.lineFeed })
        isAtLineStart = unsafe bytes[count - 1] == Byte.lineFeed
        return count
    }

    private func open(_ path: String) throws(InputError) {
        try Self.located(path) { () throws(InputError) in
            let opened = try OpenedFile(path, windowLog: windowLog, format: choice)
            // It may have changed since all files were looked at.
            try opened.check(format, header)
            parts.begin(path, at: lines + 1, line: next == 0 ? 1 : opened.linesBeforeRows + 1)
            ahead = next == 0 ? opened.start : opened.behindHeader
            file = opened
        }
    }

    private func end(_ file: OpenedFile) {
        progress.ended.withLock {
            $0.append(
                .init(
                    path: file.path, storedBytes: file.source.storedSize ?? file.bytesRead,
                    fingerprint: file.fingerprint))
        }
        storedBefore += file.source.storedSize ?? 0
        self.file = nil
        if !isAtLineStart, next < paths.count { ahead = [Byte.lineFeed] }
    }

    private func note(_ file: OpenedFile) {
        let stored = storedBefore + file.source.storedBytes(read: file.bytesRead)
        progress.storedRead.store(stored, ordering: .relaxed)
    }
}

/// One file, and its beginning.
private final class OpenedFile {
    let path: String
    let source: any ByteSource
    /// What was read.
    private(set) var fingerprint = InputFingerprint()
    /// The number of bytes that were read.
    var bytesRead: UInt64 { fingerprint.bytes }
    /// The bytes that were read to find the header row, without a byte order mark.
    private(set) var start: [UInt8] = []
    /// Where the header row begins and ends in them, without its line end, and where the rows begin.
    private var bounds = (start: 0, end: 0, rows: 0)

    private(set) var format: RowFormat?

    private static let headerMost = 1 << 20

    init(_ path: String, windowLog: Int, format: FormatChoice) throws(InputError) {
        self.path = path
        source = try InputLocation.file(path).open(limit: nil, windowLog: windowLog)
        try readStart(format)
    }

    /// Throws unless format and header row are those of the first file.
    func check(_ format: RowFormat?, _ header: [UInt8]) throws(InputError) {
        guard self.format == format else { throw .otherFormat }
        guard Self.withoutQuotes(self.header) == Self.withoutQuotes(header) else {
            throw .otherHeader(Self.text(header), found: Self.text(self.header))
        }
    }

    /// The header row without the quotes of names that need none: those of letters, digits, `_` and characters beyond ASCII, none of which
    /// is a delimiter as exports have it.
    private static func withoutQuotes(_ header: [UInt8]) -> [UInt8] {
        func isPlain(_ byte: UInt8) -> Bool {
            byte >= 0x80 || byte == UInt8(ascii: "_") || Unicode.Scalar(byte).properties.isAlphabetic
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        }
        var (result, rest) = ([UInt8](), header[...])
        while let quote = rest.firstIndex(of: Byte.quote) {
            result += rest[..<quote]
            let name = rest[(quote + 1)...].prefix(while: isPlain)
            let isWhole = !name.isEmpty && name.endIndex < rest.endIndex && rest[name.endIndex] == Byte.quote
            result += isWhole ? Array(name) : Array(rest[quote...])
            guard isWhole else { return result }
            rest = rest[(name.endIndex + 1)...]
        }
        return result + rest
    }

    private static func text(_ header: [UInt8]) -> String {
        let text = String(decoding: header.prefix(100), as: UTF8.self)
        return header.count > 100 ? text + "…" : text
    }

    var header: [UInt8] { Array(start[bounds.start..<bounds.end]) }
    var behindHeader: [UInt8] { Array(start[bounds.rows...]) }
    /// The number of lines before the first row.
    var linesBeforeRows: UInt64 { UInt64(start[..<bounds.rows].count { $0 == Byte.lineFeed }) }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Int {
        // What is appended to a file after it was opened does not belong to it.
        let most = source.size.map { Int(clamping: $0 - min($0, bytesRead)) } ?? .max
        guard most > 0 else { return 0 }
        let room = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(buffer.count, most)])
        let got = try unsafe source.read(into: room)
        if got == 0, let size = source.size { throw .changedWhileRead(bytesAtOpen: size, bytesRead: bytesRead) }
        unsafe fingerprint.add(UnsafeRawBufferPointer(rebasing: room[..<got]))
        fingerprint.isPacked = source.packing != nil
        return got
    }

    /// Reads until the header row has ended: at the first line end that is not between quotes. Of a file without one, it reads the first
    /// bytes.
    private func readStart(_ choice: FormatChoice) throws(InputError) {
        var piece = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let got = try unsafe piece.withUnsafeMutableBufferPointer { (room) throws(InputError) in
                try unsafe read(into: UnsafeMutableRawBufferPointer(room))
            }
            start += piece[..<got]
            if start.starts(with: [0xEF, 0xBB, 0xBF]) { start.removeFirst(3) }
            if let format = ForeignFormat.find(Array(start.prefix(ForeignFormat.bytesWanted))) {
                throw .foreign(format)
            }
            format = choice.format(of: start, isEnough: got == 0)
            if format == .ndjson || (format != nil && findHeader(isWhole: got == 0)) { return }
            guard got > 0, start.count < Self.headerMost else { throw .noHeader }
        }
    }

    private var hasBackslashes: Bool {
        if case .csv(let dialect)? = format { dialect.escape == .backslash } else { false }
    }

    private func findHeader(isWhole: Bool) -> Bool {
        let isBlank: (UInt8) -> Bool = { $0 == Byte.lineFeed || $0 == Byte.carriageReturn }
        guard let first = start.firstIndex(where: { !isBlank($0) }) else { return false }
        var (isQuoted, isEscaped) = (false, false)
        for index in first..<start.count {
            if start[index] == Byte.quote, !isEscaped { isQuoted.toggle() }
            isEscaped = hasBackslashes && start[index] == Byte.backslash && !isEscaped
            guard start[index] == Byte.lineFeed, !isQuoted else { continue }
            let end = start[index - 1] == Byte.carriageReturn ? index - 1 : index
            bounds = (first, end, index + 1)
            return true
        }
        // A file that has only a header row may end without a line end.
        if isWhole { bounds = (first, start.count, start.count) }
        return isWhole
    }
}

/// What distinguishes files whose paths differ.
private struct FileIdentity: Hashable {
    let device: UInt64
    let number: UInt64

    /// - Throws: `InputError.cannotOpen` unless there is a regular file.
    init(of path: String) throws(InputError) {
        var facts = Glibc.stat()
        guard unsafe stat(path, &facts) == 0 else { throw .cannotOpen(path: path, errno: errno) }
        if facts.st_mode & S_IFMT == S_IFDIR { throw .cannotOpen(path: path, errno: EISDIR) }
        guard facts.st_mode & S_IFMT == S_IFREG else { throw .cannotOpen(path: path, errno: ESPIPE) }
        (device, number) = (UInt64(facts.st_dev), UInt64(facts.st_ino))
    }
}
