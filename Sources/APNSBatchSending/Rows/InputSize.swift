import APNSBatchModel
import APNSBatchRows

/// How many rows an input has, as far as that is known before they are sent.
package struct InputSize: Sendable, Equatable {
    package private(set) var rows: UInt64
    /// Whether the rows were counted; otherwise their number is an estimate.
    package private(set) var isCounted: Bool
    /// The number of rows in the first chunk.
    package let rowsOfChunk: UInt64

    package init(rows: UInt64, isCounted: Bool, rowsOfChunk: UInt64) {
        (self.rows, self.isCounted, self.rowsOfChunk) = (rows, isCounted, rowsOfChunk)
    }

    /// Estimates the number of rows by the first chunk of the input. Returns nil if no estimate can be made.
    init?(first chunk: RowChunk, of reader: InputReader) {
        let read = UInt64(chunk.rowCount)
        var estimate = RowEstimate()
        estimate.note(rows: chunk.start.row - 1 + read, bytes: chunk.start.offset + UInt64(chunk.byteCount))
        guard let rows = estimate.rowsTotal(of: reader.reader.estimatedSize) else { return nil }
        self.init(rows: rows, isCounted: rows == read, rowsOfChunk: read)
    }

    /// Notes the number of rows that were counted.
    mutating func count(_ rows: UInt64) { (self.rows, isCounted) = (rows, true) }
}
