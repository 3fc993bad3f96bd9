import APNSBatchBasics
import Synchronization

/// Splits an input into chunks at record boundaries, and numbers the rows.
///
/// Threads: only the reader thread calls `readColumns()`, `next()`, `next(at:bytes:)`, `seek`, `rewind`, `readToEnd`, `head`, `isFlowing` and
/// `sync()`. Any thread may call `cancel()`, `bytesRead`,
/// `bytesTotal` and `RowChunk.recycle()`.
///
/// Memory: `buffers` + 1 buffers of about 256 KiB and their record ends, allocated at the start. Their pages cost nothing
/// until they are first used.
///
/// The input is read, not mapped. A file may change meanwhile:
/// - Bytes appended after it was opened are not read, and a last line that was incomplete then is left out (see
///   ``addition``).
/// - If a file becomes shorter, reading ends with `InputError.changedWhileRead` after its last complete row, because its
///   last line may be incomplete.
/// - Bytes overwritten in place are read as they are at the time of the read.
package final class ChunkReader: @unchecked Sendable {
    /// The number of bytes that the input takes where it is stored, as it was when it was opened and from where reading began; nil if
    /// it is known only at its end. If it is packed, it has more bytes than that.
    package let storedBytes: UInt64?
    /// Whether `next(at:bytes:)` and `checksum(of:)` work.
    package let canReadAgain: Bool
    /// Whether rows come when a peer makes them, so that a read may wait.
    package let isLive: Bool
    /// The limits of rows and of packed bytes.
    package let limits: RowLimits

    private let source: any ByteSource
    private let progress: ReadProgress
    private let choice: FormatChoice
    private let pool: ChunkPool
    private let chunks: [RowChunk]

    // Used by the reader thread only.
    private var columns: Result<[String], InputError>?
    /// The columns that an input without a header row may have.
    private var wanted: [JSONColumn] = []
    private var filler: ChunkFiller
    /// The place of the first row.
    private var firstRow = RowPosition(row: 1, line: 1, offset: 0)

    /// Opens the input, without reading from it.
    ///
    /// - Parameters:
    ///   - buffers: the maximum number of chunks in use; `next()` waits while all are. At least 1.
    ///   - extent: how much of a file is read; nil for all that it has when it is opened.
    /// - Throws: `InputError.cannotOpen`.
    package convenience init(
        input: InputLocation, format: FormatChoice = .csv(.comma), limits: RowLimits = .standard, buffers: Int,
        extent: InputExtent? = nil
    ) throws(InputError) {
        self.init(
            source: try input.open(limit: extent?.bytes, windowLog: limits.zstdWindowLog, format: format),
            format: format, limits: limits, buffers: buffers, endsWhole: extent?.endsWhole ?? false)
    }

    init(
        source: any ByteSource, format: FormatChoice = .csv(.comma), limits: RowLimits = .standard, buffers: Int,
        endsWhole: Bool = false
    ) {
        precondition(buffers > 0)
        let pool = ChunkPool(count: buffers)
        self.source = source
        self.pool = pool
        progress = ReadProgress()
        choice = format
        self.limits = limits
        chunks = (0..<buffers).map { RowChunk(index: $0, pool: pool, limits: limits) }
        filler = ChunkFiller(source: source, progress: progress, format: format, limits: limits, endsWhole: endsWhole)
        (storedBytes, canReadAgain, isLive) = (source.storedSize, source.canReadAgain, source.isLive)
    }

    /// When the input was last modified, in nanoseconds since 1970-01-01 00:00 UTC; nil for a pipe.
    package var modified: UInt64? { source.modified }

    /// The files that were read to their end, in order; empty unless the input is made of several.
    package var filesRead: [CopiedInput.File] { source.filesRead }

    /// The number of bytes read so far, including the header, as they are stored.
    package var storedBytesRead: UInt64 {
        source.storedBytes(read: progress.bytesRead.load(ordering: .relaxed))
    }

    /// How the input is packed; nil if it is not. Known when the columns are.
    package var packing: Packing? { source.packing }

    /// The number of bytes of the input, unpacked: known before the end is reached only if they are not packed.
    package var size: UInt64? {
        if let size = source.size { return size }
        return progress.hasEnded.load(ordering: .relaxed) ? progress.bytesRead.load(ordering: .relaxed) : nil
    }

    /// An estimate of ``size`` from how much of the stored bytes was read; nil if none can be made.
    package var estimatedSize: UInt64? {
        if let size { return size }
        let read = progress.bytesRead.load(ordering: .relaxed)
        let stored = source.storedBytes(read: read)
        guard let storedBytes, stored > 0 else { return nil }
        return UInt64(Double(read) * max(1, Double(storedBytes) / Double(stored)))
    }

    /// What was added to the input after the bytes that were read; known when the end is reached, nil if nothing was added.
    package var addition: InputAddition? {
        let bytes = progress.bytesAdded.load(ordering: .relaxed)
        let line = progress.lineCut.load(ordering: .relaxed)
        return bytes == 0 ? nil : InputAddition(bytes: bytes, lineCut: line == 0 ? nil : line)
    }

    /// Makes current and later calls of `readColumns()` and `next()` throw `.cancelled`, even while they wait for bytes or
    /// for a buffer. A read from a disk is not interrupted, because it does not take long.
    package func cancel() {
        progress.isCancelled.store(true, ordering: .sequentiallyConsistent)
        pool.cancel()
        source.cancel()
    }

    /// Returns the names of the columns, in order. Only the first call reads.
    ///
    /// - Throws: any `InputError` except `cannotOpen`.
    package func readColumns() throws(InputError) -> [String] {
        if let columns { return try columns.get() }
        // Written once, before other threads ask for cursors, which read it.
        let read = Result { () throws(InputError) in try parseColumns() }
        columns = read
        return try read.get()
    }

    private func parseColumns() throws(InputError) -> [String] {
        let chunk = try takeChunk()
        defer {
            chunk.recycle()
            firstRow = filler.next
        }
        try filler.begin(chunk)
        if format == .ndjson { wanted = choice.columns() }
        return try format.columns(limits: limits, wanted: { wanted }) { () throws(InputError) in
            try filler.fillFirst(chunk) ? chunk : nil
        }
    }

    /// Returns what the first rows of an input without a header row have, and takes none of them; nil for another format. Called before the
    /// first `next()`, it waits until rows have all columns that are needed, or as many rows have come as are looked at.
    ///
    /// - Throws: the errors of `readColumns()`, which it calls if necessary.
    package func lookAtFirstRows() throws(InputError) -> FirstRows? {
        _ = try readColumns()
        guard format == .ndjson else { return nil }
        let chunk = try takeChunk()
        defer { chunk.recycle() }
        var look = FirstRowsLook(wanted)
        try filler.show(chunk, most: FirstRows.most) { chunk in
            look.look(at: chunk)
            return look.isEnough
        }
        return look.found
    }

    /// The format of the input, known when `readColumns()` has returned.
    package var format: RowFormat { filler.format }

    /// Returns the next chunk, which is full unless it is the last or no more bytes have arrived; nil at the end. The caller owns it until it recycles
    /// it.
    ///
    /// - Throws: the errors of `readColumns()`, which it calls if necessary. Complete rows before a failure are delivered
    ///   first.
    package func next() throws(InputError) -> RowChunk? {
        _ = try readColumns()
        let chunk = try takeChunk()
        var isFilled = false
        defer { if !isFilled { chunk.recycle() } }
        do {
            isFilled = try filler.fill(chunk)
        } catch .changedBytes(let offset) {
            throw .changedRow(try row(at: offset, with: chunk))
        }
        return isFilled ? chunk : nil
    }

    /// Returns the number of the row that has the byte at an offset. Reads all rows before it again, into a chunk.
    private func row(at offset: UInt64, with chunk: RowChunk) throws(InputError) -> UInt64 {
        try filler.seek(to: firstRow)
        while try filler.fill(chunk) {
            let bytes = offset - min(offset, chunk.start.offset)
            if bytes < UInt64(chunk.byteCount) { return chunk.start.row + UInt64(chunk.rows(endingBy: Int(bytes))) }
        }
        return filler.next.row
    }

    /// Whether the next chunk can be filled without a wait of more than some milliseconds for its first bytes.
    package var isFlowing: Bool { !isLive || !filler.isQuiet && source.isFlowing() }

    /// Moves to the start of a row: the next chunk begins with it.
    ///
    /// - Throws: the errors of `readColumns()`, which it calls if necessary.
    package func seek(to position: RowPosition) throws(InputError) {
        _ = try readColumns()
        try filler.seek(to: position)
    }

    /// Moves back to the first row, as if no row had been read: one opening of a file serves those who look at its rows before they are
    /// sent, and then the lanes.
    ///
    /// - Throws: the errors of `readColumns()`, which it calls if necessary.
    package func rewind() throws(InputError) {
        // The place of the first row is known when the columns are.
        _ = try readColumns()
        try filler.seek(to: firstRow)
        progress.forgetEnd()
    }

    /// Reads the rest of the input without looking for rows. Afterwards only `rewind()` and `seek` lead to rows.
    ///
    /// - Throws: `InputError.cannotRead`, `.cannotUnpack`, `.changedWhileRead`, `.cancelled`.
    package func readToEnd() throws(InputError) {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
        defer { unsafe room.deallocate() }
        while try unsafe source.read(into: room) > 0 {}
    }

    /// Returns the fingerprint of the first bytes, or nil if they cannot be read again, and moves back to the first row in either case. Of a
    /// packed input they are unpacked.
    ///
    /// - Parameter most: How many bytes; all if they are fewer.
    /// - Throws: the errors of `rewind()`. The next row of this reader would not be the first one then.
    package func head(most: UInt64) throws(InputError) -> InputFingerprint? {
        _ = try readColumns()
        let found = try? fingerprint(most: most)
        try rewind()
        return found
    }

    private func fingerprint(most: UInt64) throws(InputError) -> InputFingerprint {
        try source.seek(to: 0)
        return try InputFingerprint(of: source, most: min(most, source.size ?? .max))
    }

    /// Returns a chunk of an earlier reader of the same input, as `next()` does, and continues after it; nil if there are not as many
    /// bytes. The input may have changed, so that the chunk is another one.
    ///
    /// - Parameters:
    ///   - position: The start of the chunk.
    ///   - bytes: The number of its bytes.
    package func next(at position: RowPosition, bytes: Int) throws(InputError) -> RowChunk? {
        try seek(to: position)
        // A file is split into the same chunks again. Those of a peer depend on when its rows came.
        guard isLive else { return try next() }
        let chunk = try takeChunk()
        var isFilled = false
        defer { if !isFilled { chunk.recycle() } }
        isFilled = try filler.refill(chunk, bytes: bytes)
        return isFilled ? chunk : nil
    }

    /// Returns when the rows that were read can be read again after a loss of power, if they are kept.
    ///
    /// - Throws: `InputError.cannotSpool`.
    package func sync() throws(InputError) { try source.sync() }

    /// Reads bytes of the input again, independently of other reads, and returns their CRC-32C; nil if the input ends before
    /// they do. Any thread may call it.
    ///
    /// - Throws: `InputError.cannotRead`.
    package func checksum(of range: Range<UInt64>) throws(InputError) -> UInt32? { try source.checksum(of: range) }

    /// The number of buffers, and of free buffers.
    package var bufferCount: Int { chunks.count }
    package var freeBuffers: Int { pool.freeCount }

    /// Waits until `count` buffers are free; returns false if cancelled.
    package func waitForBuffers(_ count: Int) -> Bool { pool.wait(for: min(count, chunks.count)) }

    private func takeChunk() throws(InputError) -> RowChunk {
        guard let index = pool.take() else { throw .cancelled }
        return chunks[index]
    }

    /// Returns a cursor for the chunks of this reader. Each lane needs its own.
    ///
    /// - Parameter copies: for each further field of a row, the index of the column whose field it is.
    /// - Precondition: `readColumns()` has returned.
    package func makeCursor(copies: [Int] = []) -> RowCursor {
        guard case .success(let columns)? = columns else { preconditionFailure("a cursor needs the columns") }
        return RowCursor(
            columnCount: columns.count, format: format, members: wanted.enumerated().map { ($0, $1.path) },
            copies: copies,
            limits: limits)
    }
}

/// The state that a reader shares with other threads.
final class ReadProgress: Sendable {
    let bytesRead = Atomic<UInt64>(0)
    /// The number of bytes that were added to the input after those that are read; known at its end.
    let bytesAdded = Atomic<UInt64>(0)
    /// The incomplete line that those bytes continue and that is left out; 0 for none.
    let lineCut = Atomic<UInt64>(0)
    let isCancelled = Atomic<Bool>(false)
    /// Whether the end of the input was reached.
    let hasEnded = Atomic<Bool>(false)

    /// Forgets what is known at the end of the input.
    func forgetEnd() {
        bytesAdded.store(0, ordering: .relaxed)
        lineCut.store(0, ordering: .relaxed)
        hasEnded.store(false, ordering: .relaxed)
    }
}
