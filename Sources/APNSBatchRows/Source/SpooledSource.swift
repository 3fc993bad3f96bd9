import APNSBatchBasics

/// Bytes that come once, such as rows of a program, and that are kept in a file while they are read, so that a later process can
/// read them again.
///
/// That process reads what earlier ones took from the file. Its origin has to make the same bytes again, which are compared and
/// not read a second time. Reading continues after them.
///
/// Threads: `attach` is called before the reader thread starts, which calls the other functions. Any thread may call `cancel` and
/// `read(at:into:)`.
package final class SpooledSource: ByteSource, @unchecked Sendable {
    private let origin: any ByteSource
    /// Nil until it is attached.
    private var spool: SpoolReader?
    /// What was read of the origin before the spool was attached: the header row, at least.
    private var early: [UInt8] = []
    /// Bytes of the origin that come before those which it will make.
    private var ahead: ArraySlice<UInt8> = []
    /// How many bytes of the origin are in the spool, or were compared with it.
    private var produced: UInt64 = 0
    /// Whether the spool has all bytes, so that the origin is not asked.
    private var isWhole = false
    /// Whether bytes were appended since the last sync.
    private var isUnsynced = false

    let canReadAgain = true
    let isLive = true

    init(_ origin: any ByteSource) { self.origin = origin }

    /// Rows of a program.
    package convenience init(_ pipe: RowPipe) { self.init(pipe as any ByteSource) }

    /// An input that each process reads from its start.
    ///
    /// - Throws: `InputError.cannotOpen`.
    package convenience init(_ input: InputLocation) throws(InputError) { self.init(try input.open(limit: nil)) }

    /// Names the file in which the bytes are kept. Until then only the header row is read.
    ///
    /// - Parameters:
    ///   - end: The end of the bytes that earlier processes took; 0 for a new run. What follows in the file is cut, because it
    ///     was not taken, and may be damaged.
    ///   - isWhole: Whether those are all bytes.
    /// - Precondition: The file is not shorter.
    package func attach(_ file: any AppendFile, resumingAt end: UInt64, isWhole: Bool) throws(StorageError) {
        if file.length > end { try file.truncate(to: end) }
        (spool, self.isWhole) = (SpoolReader(file), isWhole)
        if end > 0 {
            ahead = early[...]
        } else {
            try unsafe early.withUnsafeBufferPointer { (bytes) throws(StorageError) in
                try unsafe file.append(UnsafeRawBufferPointer(bytes))
            }
            (produced, isUnsynced) = (UInt64(early.count), true)
            spool?.position = produced
        }
        early = []
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Int {
        guard let spool else {
            let count = try unsafe origin.read(into: buffer)
            unsafe early += buffer[..<count]
            return count
        }
        if !spool.isAtEnd { return try unsafe spool.read(into: buffer) }
        let count = isWhole ? 0 : try unsafe more(spool, buffer)
        spool.position += UInt64(count)
        return count
    }

    /// Reads bytes that are not in the spool yet, and appends them to it.
    private func more(_ spool: SpoolReader, _ buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Int {
        while true {
            let isAhead = !ahead.isEmpty
            let bytes = try unsafe UnsafeRawBufferPointer(rebasing: buffer[..<next(into: buffer)])
            guard produced < spool.length else {
                try unsafe append(bytes, to: spool.file)
                return bytes.count
            }
            if origin.beginsBehindSpool {
                // What was ahead is the header row.
                ahead = (try spool.endsLine() ? [] : [Byte.lineFeed]) + (isAhead ? [] : unsafe Array(bytes))
                produced = spool.length
            } else {
                ahead = try unsafe compare(bytes, with: spool) + ahead
            }
        }
    }

    private func next(into buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Int {
        if ahead.isEmpty { return try unsafe origin.read(into: buffer) }
        let count = min(ahead.count, buffer.count)
        unsafe buffer.copyBytes(from: ahead.prefix(count))
        ahead.removeFirst(count)
        return count
    }

    /// Compares bytes of the origin with those that were taken, and returns the ones after them.
    private func compare(_ bytes: UnsafeRawBufferPointer, with spool: SpoolReader) throws(InputError) -> [UInt8] {
        let known = try spool.bytes(at: produced, count: Int(min(spool.length - produced, UInt64(bytes.count))))
        let same = unsafe zip(known, bytes).prefix { $0 == $1 }.count
        guard same == known.count, !known.isEmpty else {
            throw .changedBytes(at: produced + UInt64(same))
        }
        produced += UInt64(known.count)
        return unsafe Array(bytes[known.count...])
    }

    private func append(_ bytes: UnsafeRawBufferPointer, to file: any AppendFile) throws(InputError) {
        guard unsafe !bytes.isEmpty else { return }
        do throws(StorageError) {
            try unsafe file.append(bytes)
        } catch {
            throw .cannotSpool(error)
        }
        produced = file.length
        isUnsynced = true
    }

    func sync() throws(InputError) {
        guard isUnsynced, let spool else { return }
        do throws(StorageError) {
            try spool.file.sync()
        } catch {
            throw .cannotSpool(error)
        }
        isUnsynced = false
    }

    func isFlowing() -> Bool {
        guard let spool, produced < spool.length else { return origin.isFlowing() }
        // To compare what was taken may take long, and rows that were read are not kept back meanwhile.
        return !spool.isAtEnd || isWhole
    }

    func seek(to offset: UInt64) throws(InputError) { spool?.position = offset }

    func read(at offset: UInt64, into bytes: UnsafeMutableRawBufferPointer) throws(InputError) -> Bool {
        guard let spool else { return false }
        return try unsafe spool.read(at: offset, into: bytes) == bytes.count
    }

    func cancel() { origin.cancel() }
}

/// The file of a spool, and how far it was read.
private final class SpoolReader {
    let file: any AppendFile
    /// The offset of the next byte to read.
    var position: UInt64 = 0

    init(_ file: any AppendFile) { self.file = file }

    var length: UInt64 { file.length }
    var isAtEnd: Bool { position >= file.length }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Int {
        let count = try unsafe read(at: position, into: buffer)
        position += UInt64(count)
        return count
    }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Int {
        do throws(StorageError) {
            return try unsafe file.read(at: offset, into: buffer)
        } catch {
            throw .cannotSpool(error)
        }
    }

    /// Returns some bytes, or fewer if the file ends before.
    func bytes(at offset: UInt64, count: Int) throws(InputError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let got = try unsafe bytes.withUnsafeMutableBufferPointer { (room) throws(InputError) in
            try unsafe read(at: offset, into: UnsafeMutableRawBufferPointer(room))
        }
        return Array(bytes[..<got])
    }

    /// Whether the file ends at the end of a line, which it does not after a row that is too long.
    func endsLine() throws(InputError) -> Bool { try bytes(at: length - 1, count: 1) == [Byte.lineFeed] }
}
