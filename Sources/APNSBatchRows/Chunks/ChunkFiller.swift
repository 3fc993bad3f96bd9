/// Reads a source and fills chunks with complete records. Only the reader thread uses it.
struct ChunkFiller {
    private let source: any ByteSource
    private let progress: ReadProgress
    private let choice: FormatChoice
    /// The format, known when the first bytes were read.
    private(set) var format = RowFormat.csv(.comma)
    private let limits: RowLimits
    private let carry: Carry
    /// Whether the last record ends with the input, even if more bytes follow by now: it did when the input was first read.
    private let endsWhole: Bool

    private var ending = Ending.unknown
    private var isSkippingLine = false
    /// Whether the last chunk was not filled because no more bytes came for a while.
    private(set) var isQuiet = false
    /// The position at which the next chunk starts.
    private(set) var next = RowPosition(row: 1, line: 1, offset: 0)

    /// What follows the bytes read so far.
    private enum Ending {
        case unknown
        case end
        /// The end of the input, after which bytes were added: the last line was complete only if they begin with a line
        /// end.
        case endOfGrown(next: UInt8)
        case failure(InputError)
    }

    init(
        source: any ByteSource, progress: ReadProgress, format: FormatChoice, limits: RowLimits, endsWhole: Bool
    ) {
        self.source = source
        self.progress = progress
        choice = format
        self.limits = limits
        self.endsWhole = endsWhole
        carry = Carry(capacity: limits.bufferBytes)
    }

    /// Reads the first bytes, and finds the format. It reads no more than necessary.
    ///
    /// - Parameter chunk: room for them.
    /// - Throws: the errors of `fill`, and `InputError.foreign`.
    mutating func begin(_ chunk: RowChunk) throws(InputError) {
        var filled = try readStart(chunk)
        while true {
            // Not the whole buffer, so that the format does not depend on its size.
            let start = chunk.first(min(filled, limits.recordBytes))
            if let found = choice.format(of: start, isEnough: isEnding || filled >= limits.recordBytes) {
                format = found
                break
            }
            filled += try readSome(chunk, filled)
        }
        unsafe carry.load(chunk.bytes, count: filled)
    }

    /// Fills the chunk with the first record only, and reads no more than necessary. Returns false if there is none.
    ///
    /// - Throws: the errors of `fill`.
    mutating func fillFirst(_ chunk: RowChunk) throws(InputError) -> Bool {
        var filled = unsafe carry.unload(into: chunk.bytes)
        while true {
            let wasEnding = isEnding
            if try split(chunk, filled, capacity: 1) { return true }
            if wasEnding { return try end(left: filled) }
            filled = unsafe carry.unload(into: chunk.bytes)
            filled += try readSome(chunk, filled)
        }
    }

    /// Fills the chunk with the first rows, and shows them without taking them: reads on until `body` returns true, `most` rows have come, no
    /// more fit, or the input ends.
    ///
    /// - Throws: the errors of `fill`.
    mutating func show(_ chunk: RowChunk, most: Int, _ body: (RowChunk) -> Bool) throws(InputError) {
        let start = next
        var needsMore = false
        while true {
            var filled = unsafe carry.unload(into: chunk.bytes)
            while filled < limits.bufferBytes, !isEnding, needsMore || filled == 0 || source.isFlowing() {
                filled += try readSome(chunk, filled)
                needsMore = false
            }
            let isLast = isEnding || filled == limits.bufferBytes
            let hasRows = try split(chunk, filled, capacity: min(most, limits.chunkRecords))
            let isEnough = hasRows && (body(chunk) || chunk.rowCount == most)
            (next, isSkippingLine) = (start, false)
            unsafe carry.load(chunk.bytes, count: filled)
            if isLast || isEnough { return }
            needsMore = true
        }
    }

    /// Fills the chunk with as many rows as fit, or as have arrived. Returns false at the end.
    ///
    /// - Throws: `InputError.cannotRead`, `.changedWhileRead`, `.quoting`, `.cancelled`.
    mutating func fill(_ chunk: RowChunk) throws(InputError) -> Bool {
        var needsMore = false
        while true {
            var filled = unsafe isSkippingLine ? try skipLine(chunk) : carry.unload(into: chunk.bytes)
            while filled < limits.bufferBytes, !isEnding, needsMore || filled == 0 || source.isFlowing() {
                filled += try readSome(chunk, filled)
                needsMore = false
            }
            isQuiet = filled < limits.bufferBytes && !isEnding
            // When rows are read again, their chunk must be the same: so none is delivered that a failure cut short.
            if case .failure(let error) = ending, !source.isLive { throw error }
            let wasEnding = isEnding
            if try split(chunk, filled, capacity: limits.chunkRecords) {
                next.row += UInt64(chunk.rowCount)
                return true
            }
            if wasEnding { return try end(left: filled) }
            needsMore = true
        }
    }

    /// Fills the chunk with the rows of a chunk that had this many bytes, which follow. Returns false if there are not as many.
    ///
    /// - Throws: the errors of `fill`.
    mutating func refill(_ chunk: RowChunk, bytes: Int) throws(InputError) -> Bool {
        guard bytes <= limits.bufferBytes else { return false }
        var filled = 0
        while filled < bytes, !isEnding { filled += try readSome(chunk, filled, upTo: bytes) }
        if case .failure(let error) = ending { throw error }
        guard filled == bytes else { return false }
        let start = next
        if try !split(chunk, filled, capacity: limits.chunkRecords) || chunk.byteCount < bytes {
            // The last record is the first line of one that is too long: it looks complete only where nothing follows.
            next = start
            carry.empty()
            guard try split(chunk, filled, capacity: limits.chunkRecords, isFinal: true) else { return false }
        }
        next.row += UInt64(chunk.rowCount)
        return chunk.byteCount == bytes
    }

    /// Continues at the beginning of a record, as if nothing after it had been read.
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

    /// - Parameter left: the number of bytes of an incomplete line.
    private func end(left: Int) throws(InputError) -> Bool {
        switch ending {
        case .failure(let error): throw error
        case .endOfGrown where left > 0: progress.lineCut.store(next.line, ordering: .relaxed)
        default: break
        }
        return false
    }

    /// Returns the offset in the chunk at which the input ends; nil if it continues.
    private func end(in chunk: RowChunk, _ filled: Int) -> Int? {
        switch ending {
        case .end: return filled
        case .unknown, .failure: return nil
        case .endOfGrown(let next):
            if next == Byte.lineFeed || next == Byte.carriageReturn { return filled }
            return chunk.first(filled).lastIndex(of: Byte.lineFeed).map { $0 + 1 } ?? 0
        }
    }

    /// Limits the chunk to complete records and keeps the rest for the next one. Returns false if there is no record.
    private mutating func split(
        _ chunk: RowChunk, _ filled: Int, capacity: Int, isFinal: Bool = false
    ) throws(InputError) -> Bool {
        // Blocks are loaded whole. The bytes past the end are ignored, but should be the same each time.
        unsafe (chunk.bytes + filled).update(repeating: 0, count: ByteBlock.slack)
        let end = end(in: chunk, filled)
        let result = unsafe format.split(
            chunk.bytes, count: end ?? filled, final: isFinal || end != nil, into: chunk.ends, capacity: capacity,
            limits: limits)
        if let dispute = result.dispute { throw unsafe error(dispute, chunk.bytes, result) }
        chunk.start = next
        chunk.rowCount = result.records
        chunk.byteCount = unsafe result.records == 0 ? 0 : chunk.ends[result.records - 1].offset
        next.line += UInt64(result.lines)
        next.offset += UInt64(result.consumed)
        isSkippingLine = result.skipsLine
        unsafe carry.load(chunk.bytes + result.consumed, count: filled - result.consumed)
        return result.records > 0
    }

    /// The error of an input whose quoting is in dispute. Rows of the chunk before it are not delivered, so that none is sent before
    /// the setting says how they were written.
    private func error(
        _ dispute: QuotingDispute, _ bytes: UnsafePointer<UInt8>, _ result: SplitResult
    ) -> InputError {
        var (line, start) = (next.line + UInt64(result.lines), result.consumed)
        for at in result.consumed..<dispute.offset where unsafe bytes[at] == Byte.lineFeed {
            (line, start) = (line + 1, at + 1)
        }
        return .quoting(dispute.doubt, line: line, column: dispute.offset - start + 1)
    }
}

// Reading.
extension ChunkFiller {
    /// Reads more bytes after the first `filled` ones of the chunk. At the end, or after a failure, `ending` is set.
    private mutating func readSome(_ chunk: RowChunk, _ filled: Int, upTo most: Int? = nil) throws(InputError) -> Int {
        if progress.isCancelled.load(ordering: .relaxed) { throw .cancelled }
        do {
            let read = progress.bytesRead.load(ordering: .relaxed)
            let count = min(
                UInt64((most ?? limits.bufferBytes) - filled), source.size.map { $0 - min($0, read) } ?? .max)
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
        if let expected = source.size, read != expected {
            return .failure(.changedWhileRead(bytesAtOpen: expected, bytesRead: read))
        }
        progress.hasEnded.store(true, ordering: .relaxed)
        guard let behind = source.bytesBehind() else { return .end }
        progress.bytesAdded.store(behind.count, ordering: .relaxed)
        return endsWhole ? .end : .endOfGrown(next: behind.first)
    }

    /// Reads the first bytes and drops a byte order mark (EF BB BF). Returns the number of bytes in the chunk.
    ///
    /// - Throws: the errors of `fill`, and `InputError.foreign`.
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
            // A short first line is a whole header row, and a peer may wait for it to be read before it sends more.
            if filled >= 3, chunk.first(filled).contains(Byte.lineFeed) { break }
        }
        guard chunk.first(min(filled, 3)) == [0xEF, 0xBB, 0xBF] else { return filled }
        next.offset = 3
        unsafe carry.load(chunk.bytes + 3, count: filled - 3)
        return unsafe carry.unload(into: chunk.bytes)
    }

    /// Drops bytes up to and including the next LF. Returns the number of bytes after it in the chunk.
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

/// Bytes that were read with one chunk and belong to the next, usually the beginning of a record.
///
/// They are kept here and not in the old chunk, because another thread may hold that chunk by then.
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

    /// Moves the bytes to `target` and returns their number.
    func unload(into target: UnsafeMutablePointer<UInt8>) -> Int {
        unsafe target.update(from: bytes, count: count)
        defer { count = 0 }
        return count
    }
}
