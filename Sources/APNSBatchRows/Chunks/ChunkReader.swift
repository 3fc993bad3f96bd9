import Synchronization

/// Splits an input into chunks at record boundaries and numbers their rows.
///
/// Threads: one thread, the reader's, calls `readColumns()`, `next()` and `seek`. `cancel()`, `bytesRead`, `bytesTotal` and
/// `RowChunk.recycle()` are for any thread.
///
/// Memory: `buffers` + 1 buffers of some 256 KiB and their record ends, allocated at the start. Their pages cost
/// nothing until they are first used.
///
/// The input is read, not mapped. A file may change meanwhile:
/// - what is appended after it was opened is not read, and a last line that was half written then is left out
///   (``addition`` tells);
/// - a file that turns out shorter than it was ends in `InputError.changedWhileRead` after its last complete row, because
///   its last line may be half of one;
/// - bytes overwritten in place are read as they are when their turn comes.
package final class ChunkReader: @unchecked Sendable {
    /// Bytes of the input, from where reading began, if it is a regular file. As it was when opened.
    package let bytesTotal: UInt64?

    private let source: any ByteSource
    private let progress: ReadProgress
    private let format: RowFormat
    private let limits: RowLimits
    private let pool: ChunkPool
    private let chunks: [RowChunk]

    // The reader thread's.
    private var columns: Result<[String], InputError>?
    private var filler: ChunkFiller

    /// Opens the input, without reading from it.
    ///
    /// - Parameters:
    ///   - buffers: chunks that may be out at once; `next()` waits while all are. At least 1.
    ///   - extent: how much of a file is read; nil for all that it has when it is opened.
    /// - Throws: `InputError.cannotOpen`.
    package convenience init(
        input: InputLocation, format: RowFormat = .csv(.comma), limits: RowLimits = .standard, buffers: Int,
        extent: InputExtent? = nil
    ) throws(InputError) {
        self.init(
            source: try input.open(limit: extent?.bytes), format: format, limits: limits, buffers: buffers,
            endsWhole: extent?.endsWhole ?? false)
    }

    init(
        source: any ByteSource, format: RowFormat = .csv(.comma), limits: RowLimits = .standard, buffers: Int,
        endsWhole: Bool = false
    ) {
        precondition(buffers > 0)
        let pool = ChunkPool(count: buffers)
        self.source = source
        self.pool = pool
        progress = ReadProgress()
        self.format = format
        self.limits = limits
        chunks = (0..<buffers).map { RowChunk(index: $0, pool: pool, limits: limits) }
        filler = ChunkFiller(source: source, progress: progress, format: format, limits: limits, endsWhole: endsWhole)
        bytesTotal = source.byteCount
    }

    /// Bytes read so far, header included.
    package var bytesRead: UInt64 {
        progress.bytesRead.load(ordering: .relaxed)
    }

    /// What was added to the input behind the bytes that were read, once its end was reached; nil if nothing was.
    package var addition: InputAddition? {
        let bytes = progress.bytesAdded.load(ordering: .relaxed)
        let line = progress.lineCut.load(ordering: .relaxed)
        return bytes == 0 ? nil : InputAddition(bytes: bytes, lineCut: line == 0 ? nil : line)
    }

    /// Makes the current and every later call of `readColumns()` and `next()` throw `.cancelled`, also one that waits
    /// for bytes or for a buffer. (A read from a disk is not interrupted; it does not take long.)
    package func cancel() {
        progress.isCancelled.store(true, ordering: .sequentiallyConsistent)
        pool.cancel()
        source.cancel()
    }

    /// The names of the columns, in order, by the first record that is not a blank line. Reads on the first call only.
    ///
    /// - Throws: any `InputError` but `cannotOpen`.
    package func readColumns() throws(InputError) -> [String] {
        let known = columns ?? Result { () throws(InputError) in try parseColumns() }
        columns = known
        return try known.get()
    }

    private func parseColumns() throws(InputError) -> [String] {
        let chunk = try takeChunk()
        defer { chunk.recycle() }
        guard try filler.fillFirst(chunk) else { throw .noHeader }
        return try format.columns(of: chunk, limits: limits)
    }

    /// The next chunk, full unless it is the last; nil at the end. The caller owns it until it recycles it.
    ///
    /// - Throws: as `readColumns()`, which it calls if need be. Complete rows before a failure are delivered first.
    package func next() throws(InputError) -> RowChunk? {
        _ = try readColumns()
        let chunk = try takeChunk()
        var isFilled = false
        defer { if !isFilled { chunk.recycle() } }
        isFilled = try filler.fill(chunk)
        return isFilled ? chunk : nil
    }

    /// Goes to where a chunk of an earlier reader of the same file started: the next chunk is that one. Only where
    /// ``bytesTotal`` is known.
    ///
    /// - Throws: as `readColumns()`, which it calls if need be.
    package func seek(to position: RowPosition) throws(InputError) {
        _ = try readColumns()
        try filler.seek(to: position)
    }

    /// Reads bytes of the input again, whatever is being read meanwhile. From any thread; only where ``bytesTotal`` is known.
    ///
    /// - Returns: false when not all of them could be read.
    package func read(at offset: UInt64, into bytes: UnsafeMutableRawBufferPointer) -> Bool {
        unsafe source.read(at: offset, into: bytes)
    }

    /// How many buffers there are, and how many of them are free.
    package var bufferCount: Int { chunks.count }
    package var freeBuffers: Int { pool.freeCount }

    /// Waits until so many buffers are free; false when cancelled.
    package func waitForBuffers(_ count: Int) -> Bool { pool.wait(for: min(count, chunks.count)) }

    private func takeChunk() throws(InputError) -> RowChunk {
        guard let index = pool.take() else { throw .cancelled }
        return chunks[index]
    }

    /// A cursor for the chunks of this reader. Each lane has its own.
    ///
    /// - Precondition: `readColumns()` has returned.
    package func makeCursor() -> RowCursor {
        guard case .success(let columns)? = columns else { preconditionFailure("a cursor needs the columns") }
        return RowCursor(columnCount: columns.count, format: format, limits: limits)
    }
}

/// What other threads see of a reader, and tell it.
final class ReadProgress: Sendable {
    let bytesRead = Atomic<UInt64>(0)
    /// Bytes that were added to the input behind those that are read; known at its end.
    let bytesAdded = Atomic<UInt64>(0)
    /// The line that those bytes go on with, and that is left out; 0 for none.
    let lineCut = Atomic<UInt64>(0)
    let isCancelled = Atomic<Bool>(false)
}
