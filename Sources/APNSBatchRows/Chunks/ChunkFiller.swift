/// Reads a source and fills chunks with whole records. The reader thread's alone.
struct ChunkFiller {
    private let source: any ByteSource
    private let progress: ReadProgress
    private let format: RowFormat
    private let limits: RowLimits
    private let carry: Carry
    /// The last record ends with the input, even if more stands behind that by now: it did so when it was read first.
    private let endsWhole: Bool

    private var ending = Ending.unknown
    private var isSkippingLine = false
    /// Where the next chunk starts.
    private var next = RowPosition(row: 1, line: 1, offset: 0)

    /// What comes after the bytes in hand.
    private enum Ending {
        case unknown
        case end
        /// The same, and bytes were added since: the last line was whole only if they begin with a line end.
        case endOfGrown(next: UInt8)
        case failure(InputError)
    }

    init(
        source: any ByteSource, progress: ReadProgress, format: RowFormat, limits: RowLimits, endsWhole: Bool
    ) {
        self.source = source
        self.progress = progress
        self.format = format
        self.limits = limits
        self.endsWhole = endsWhole
        carry = Carry(capacity: limits.bufferBytes)
    }

    /// Fills the chunk with the first record alone, reading no more than that takes. False when there is none.
    ///
    /// - Throws: as `fill`.
    mutating func fillFirst(_ chunk: RowChunk) throws(InputError) -> Bool {
        var filled = try readStart(chunk)
        while true {
            let wasEnding = isEnding
            if try split(chunk, filled, capacity: 1) { return true }
            if wasEnding { return try end(left: filled) }
            filled = unsafe carry.unload(into: chunk.bytes)
            filled += try readSome(chunk, filled)
        }
    }

    /// Fills the chunk with rows: as many as fit, or as there are. False at the end.
    ///
    /// - Throws: `InputError.cannotRead`, `.changedWhileRead`, `.cancelled`.
    mutating func fill(_ chunk: RowChunk) throws(InputError) -> Bool {
        while true {
            var filled = unsafe isSkippingLine ? try skipLine(chunk) : carry.unload(into: chunk.bytes)
            while filled < limits.bufferBytes, !isEnding {
                filled += try readSome(chunk, filled)
            }
            // Rows of a chunk that a fault cut short can be read again, and then the chunk must be the same.
            if case .failure(let error) = ending, source.byteCount != nil { throw error }
            let wasEnding = isEnding
            if try split(chunk, filled, capacity: limits.chunkRecords) {
                next.row += UInt64(chunk.rowCount)
                return true
            }
            if wasEnding { return try end(left: filled) }
        }
    }

    /// Goes on where a record begins, as if nothing had been read since then.
    mutating func seek(to position: RowPosition) throws(InputError) {
        try source.seek(to: position.offset)
        progress.bytesRead.store(position.offset, ordering: .relaxed)
        carry.empty()
        (ending, isSkippingLine) = (.unknown, false)
        next = position
    }

    private var isEnding: Bool {
        if case .unknown = ending { false } else { true }
    }

    /// - Parameter left: bytes of a line that was not whole.
    private func end(left: Int) throws(InputError) -> Bool {
        switch ending {
        case .failure(let error): throw error
        case .endOfGrown where left > 0: progress.lineCut.store(next.line, ordering: .relaxed)
        default: break
        }
        return false
    }

    /// Where the input ends in the chunk; nil when it goes on.
    private func end(in chunk: RowChunk, _ filled: Int) -> Int? {
        switch ending {
        case .end: return filled
        case .unknown, .failure: return nil
        case .endOfGrown(let next):
            if next == Byte.lineFeed || next == Byte.carriageReturn { return filled }
            return chunk.first(filled).lastIndex(of: Byte.lineFeed).map { $0 + 1 } ?? 0
        }
    }

    /// Makes the chunk's bytes its records, keeps the rest for the next. False when there is no record.
    private mutating func split(_ chunk: RowChunk, _ filled: Int, capacity: Int) throws(InputError) -> Bool {
        // Blocks are read whole. What lies behind the end is ignored, but let it be the same every time.
        unsafe (chunk.bytes + filled).update(repeating: 0, count: ByteBlock.slack)
        let end = end(in: chunk, filled)
        let result = unsafe format.split(
            chunk.bytes, count: end ?? filled, final: end != nil, into: chunk.ends, capacity: capacity, limits: limits)
        chunk.start = next
        chunk.rowCount = result.records
        chunk.byteCount = unsafe result.records == 0 ? 0 : chunk.ends[result.records - 1].offset
        next.line += UInt64(result.lines)
        next.offset += UInt64(result.consumed)
        isSkippingLine = result.skipsLine
        unsafe carry.load(chunk.bytes + result.consumed, count: filled - result.consumed)
        return result.records > 0
    }
}

// Reading.
extension ChunkFiller {
    /// Reads behind the `filled` bytes that the chunk has. At the end, or when reading fails, `ending` says so.
    private mutating func readSome(_ chunk: RowChunk, _ filled: Int) throws(InputError) -> Int {
        if progress.isCancelled.load(ordering: .relaxed) { throw .cancelled }
        do {
            let left =
                (source.byteCount ?? .max) - min(source.byteCount ?? 0, progress.bytesRead.load(ordering: .relaxed))
            let count = min(UInt64(limits.bufferBytes - filled), left)
            let room = unsafe UnsafeMutableRawBufferPointer(start: chunk.bytes + filled, count: Int(count))
            let got = unsafe count == 0 ? 0 : try source.read(into: room)
            progress.bytesRead.add(UInt64(got), ordering: .relaxed)
            if got == 0 { ending = endOfInput() }
            return got
        } catch .cancelled {
            throw .cancelled
        } catch {
            ending = .failure(error)
            return 0
        }
    }

    private func endOfInput() -> Ending {
        let read = progress.bytesRead.load(ordering: .relaxed)
        guard let expected = source.byteCount else { return .end }
        guard read == expected else { return .failure(.changedWhileRead(bytesAtOpen: expected, bytesRead: read)) }
        guard let behind = source.bytesBehind() else { return .end }
        progress.bytesAdded.store(behind.count, ordering: .relaxed)
        return endsWhole ? .end : .endOfGrown(next: behind.first)
    }

    /// Reads the first bytes and drops a byte order mark (EF BB BF). Returns how many are in the chunk.
    ///
    /// - Throws: `InputError.foreign` too.
    private mutating func readStart(_ chunk: RowChunk) throws(InputError) -> Int {
        let filled = try skipByteOrderMark(chunk)
        let first = chunk.first(min(filled, ForeignFormat.bytesWanted))
        if let format = ForeignFormat.find(first) { throw .foreign(format) }
        return filled
    }

    private mutating func skipByteOrderMark(_ chunk: RowChunk) throws(InputError) -> Int {
        var filled = 0
        while !isEnding, filled < min(3 + ForeignFormat.bytesWanted, limits.bufferBytes) {
            filled += try readSome(chunk, filled)
            // A short first line is a whole header row; nobody may send more before it is read.
            if filled >= 3, chunk.first(filled).contains(Byte.lineFeed) { break }
        }
        guard chunk.first(min(filled, 3)) == [0xEF, 0xBB, 0xBF] else { return filled }
        next.offset = 3
        unsafe carry.load(chunk.bytes + 3, count: filled - 3)
        return unsafe carry.unload(into: chunk.bytes)
    }

    /// Throws bytes away up to and with the next LF. Returns how many bytes behind it are in the chunk.
    private mutating func skipLine(_ chunk: RowChunk) throws(InputError) -> Int {
        while !isEnding {
            let got = try readSome(chunk, 0)
            guard let at = chunk.first(got).firstIndex(of: Byte.lineFeed) else {
                next.offset += UInt64(got)
                continue
            }
            next.offset += UInt64(at + 1)
            unsafe carry.load(chunk.bytes + at + 1, count: got - at - 1)
            isSkippingLine = false
            return unsafe carry.unload(into: chunk.bytes)
        }
        isSkippingLine = false
        return 0
    }
}

/// Bytes that were read with one chunk and belong to the next: the beginning of a record, usually.
///
/// They wait here, and not in the old chunk, because that may be in other hands by then.
@safe private final class Carry {
    private let bytes: UnsafeMutablePointer<UInt8>
    private var count = 0

    init(capacity: Int) {
        unsafe bytes = .allocate(capacity: capacity)
    }

    deinit {
        unsafe bytes.deallocate()
    }

    func load(_ source: UnsafePointer<UInt8>, count: Int) {
        unsafe bytes.update(from: source, count: count)
        self.count = count
    }

    func empty() { count = 0 }

    /// Moves the bytes to `target` and says how many they are.
    func unload(into target: UnsafeMutablePointer<UInt8>) -> Int {
        unsafe target.update(from: bytes, count: count)
        defer { count = 0 }
        return count
    }
}
