import APNSBatchRows
import Glibc

/// A file of rows, read by the reader of campaigns.
struct RowFile {
    let path: String
    var format = FormatChoice.csv(.comma)

    var byteCount: Int {
        var facts = stat()
        return stat(path, &facts) == 0 ? Int(facts.st_size) : 0
    }

    /// Splits and parses the file in one thread, and calls `body` with each row.
    @inline(__always)
    func forEachRow(_ body: (borrowing Row) throws -> Void) throws {
        // As few buffers as will do: they stay in the cache, as they do where lanes keep up with the reader.
        try read(ChunkReader(input: .file(path), format: format, buffers: 1), keepsRows: false, body)
    }

    /// The same, but all rows stay in memory for as long as the reader that is returned.
    func keepRows(_ body: (borrowing Row) throws -> Void) throws -> ChunkReader {
        // A chunk is at least half full.
        let buffers = byteCount / (RowLimits.standard.chunkBytes / 2) + 2
        let reader = try ChunkReader(input: .file(path), format: format, buffers: buffers)
        try read(reader, keepsRows: true, body)
        return reader
    }

    @inline(__always)
    private func read(
        _ reader: ChunkReader, keepsRows: Bool, _ body: (borrowing Row) throws -> Void
    ) throws {
        _ = try reader.readColumns()
        var cursor = reader.makeCursor()
        var row = Row()
        while let chunk = try reader.next() {
            cursor.open(chunk)
            while cursor.next(into: &row) {
                if let error = row.error { throw BenchmarkFailure("\(path):\(error.line): \(error.cause)") }
                try body(row)
            }
            if !keepsRows { chunk.recycle() }
        }
    }
}
