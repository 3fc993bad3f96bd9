/// Splits an input into chunks at record boundaries and numbers their rows.
///
/// Threads: one thread, the reader's, calls `readHeader()` and `next()`. `cancel()`, `bytesRead`, `bytesTotal` and
/// `CSVChunk.recycle()` are for any thread.
///
/// Memory: `buffers` + 1 buffers of some 256 KiB and their record ends, allocated at the start. Their pages cost
/// nothing until they are first used.
///
/// The input is read, not mapped. A file may change meanwhile:
/// - what is appended after it was opened is not read, and a last line that was half written then is left out
///   (``addition`` tells);
/// - a file that turns out shorter than it was ends in `CSVError.changedWhileRead` after its last complete row, because
///   its last line may be half of one;
/// - bytes overwritten in place are read as they are when their turn comes.
package final class CSVChunkReader: @unchecked Sendable {
    /// Bytes of the input, from where reading began, if it is a regular file. As it was when opened.
    package let bytesTotal: UInt64?

    private let source: any ByteSource
    private let progress: ReadProgress
    private let grammar: CSVGrammar
    private let pool: ChunkPool
    private let chunks: [CSVChunk]

    // The reader thread's.
    private var columns: [String]?
    private var headerFailure: CSVError?
    private var feed: RecordFeed
    private var nextRow: UInt64 = 1

    /// Opens the input, without reading from it.
    ///
    /// - Parameters:
    ///   - buffers: chunks that may be out at once; `next()` waits while all are. At least 1.
    ///   - extent: how much of a file is read; nil for all that it has when it is opened.
    /// - Throws: `CSVError.cannotOpen`.
    package convenience init(
        input: CSVInput, dialect: CSVDialect = .comma, limits: CSVLimits = .standard, buffers: Int,
        extent: CSVExtent? = nil
    ) throws(CSVError) {
        self.init(
            source: try DescriptorSource(input, limit: extent?.bytes), dialect: dialect, limits: limits,
            buffers: buffers, endsWhole: extent?.endsWhole ?? false)
    }

    init(source: any ByteSource, dialect: CSVDialect, limits: CSVLimits, buffers: Int, endsWhole: Bool = false) {
        precondition(buffers > 0)
        let pool = ChunkPool(count: buffers)
        self.source = source
        self.pool = pool
        progress = ReadProgress()
        grammar = CSVGrammar(dialect: dialect, limits: limits)
        chunks = (0..<buffers).map { CSVChunk(index: $0, pool: pool, limits: limits) }
        feed = RecordFeed(source: source, progress: progress, grammar: grammar, limits: limits, endsWhole: endsWhole)
        bytesTotal = source.byteCount
    }

    /// Bytes read so far, header included.
    package var bytesRead: UInt64 {
        progress.bytesRead.load(ordering: .relaxed)
    }

    /// What was added to the input behind the bytes that were read, once its end was reached; nil if nothing was.
    package var addition: CSVAddition? {
        let bytes = progress.bytesAdded.load(ordering: .relaxed)
        let line = progress.lineCut.load(ordering: .relaxed)
        return bytes == 0 ? nil : CSVAddition(bytes: bytes, lineCut: line == 0 ? nil : line)
    }

    /// Makes the current and every later call of `readHeader()` and `next()` throw `.cancelled`, also one that waits
    /// for bytes or for a buffer. (A read from a disk is not interrupted; it does not take long.)
    package func cancel() {
        progress.isCancelled.store(true, ordering: .sequentiallyConsistent)
        pool.cancel()
        source.cancel()
    }

    /// The names of the columns, in order: the fields of the first record that is not a blank line. Reads on the first
    /// call only.
    ///
    /// - Throws: any `CSVError` but `badDelimiter` and `cannotOpen`.
    package func readHeader() throws(CSVError) -> [String] {
        if let columns { return columns }
        if let headerFailure { throw headerFailure }
        do throws(CSVError) {
            let names = try parseHeader()
            columns = names
            return names
        } catch {
            headerFailure = error
            throw error
        }
    }

    private func parseHeader() throws(CSVError) -> [String] {
        let chunk = try takeChunk()
        defer { chunk.recycle() }
        guard try feed.fillFirst(chunk) else { throw .noHeader }
        return try HeaderRow(grammar: grammar).names(of: chunk)
    }

    /// The next chunk, full unless it is the last; nil at the end. The caller owns it until it recycles it.
    ///
    /// - Throws: as `readHeader()`, which it calls if need be. Complete rows before a failure are delivered first.
    package func next() throws(CSVError) -> CSVChunk? {
        _ = try readHeader()
        let chunk = try takeChunk()
        do {
            guard try feed.fill(chunk) else {
                chunk.recycle()
                return nil
            }
        } catch {
            chunk.recycle()
            throw error
        }
        chunk.firstRow = nextRow
        nextRow += UInt64(chunk.rowCount)
        return chunk
    }

    /// Goes to where a chunk began that an earlier reader of the same file gave: the next chunk is that one. Only where
    /// ``bytesTotal`` is known.
    ///
    /// - Throws: as `readHeader()`, which it calls if need be.
    package func seek(to offset: UInt64, firstRow: UInt64, firstLine: UInt64) throws(CSVError) {
        _ = try readHeader()
        try feed.seek(to: offset, line: firstLine)
        nextRow = firstRow
    }

    /// Reads bytes of the input again, whatever is being read meanwhile. From any thread; only where ``bytesTotal`` is known.
    ///
    /// - Returns: false when not all of them could be read.
    package func read(at offset: UInt64, into bytes: UnsafeMutableRawBufferPointer) -> Bool {
        source.read(at: offset, into: bytes)
    }

    /// How many buffers there are, and how many of them are free.
    package var bufferCount: Int { chunks.count }
    package var freeBuffers: Int { pool.freeCount }

    /// Waits until so many buffers are free; false when cancelled.
    package func waitForBuffers(_ count: Int) -> Bool { pool.wait(for: min(count, chunks.count)) }

    private func takeChunk() throws(CSVError) -> CSVChunk {
        guard let index = pool.take() else { throw .cancelled }
        return chunks[index]
    }

    /// A cursor for the chunks of this reader. Each lane has its own.
    ///
    /// - Precondition: `readHeader()` has returned.
    package func makeCursor() -> CSVRowCursor {
        guard let columns else { preconditionFailure("a cursor needs the header row") }
        return CSVRowCursor(columnCount: columns.count, grammar: grammar)
    }
}
