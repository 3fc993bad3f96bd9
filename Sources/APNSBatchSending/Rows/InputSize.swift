import APNSBatchModel
import APNSBatchRows

/// How many rows an input has, as far as that is known before they are sent.
package struct InputSize: Sendable, Equatable {
    package var rows: UInt64
    /// Whether the rows were counted; otherwise their number is an estimate.
    package var isCounted: Bool
    /// The number of rows in the first chunk.
    package var rowsOfChunk: UInt64

    package init(rows: UInt64, isCounted: Bool, rowsOfChunk: UInt64) {
        (self.rows, self.isCounted, self.rowsOfChunk) = (rows, isCounted, rowsOfChunk)
    }

    /// Reads the beginning of the input, and with `counting` all of it. Returns nil if it is not a file that can be read again, or cannot be
    /// read: the reader of its rows reports why.
    package init?(_ campaign: Campaign, of input: RunInput, counting: Bool = false) {
        guard let counter = (try? InputReader.counter(campaign, of: input)) ?? nil,
            let chunk = try? counter.nextChunk()
        else { return nil }
        let read = UInt64(chunk.rowCount)
        counter.note(chunk.start, rows: chunk.rowCount, bytes: chunk.byteCount)
        chunk.recycle()
        rowsOfChunk = read
        if counting {
            guard let rest = try? counter.countRows() else { return nil }
            (rows, isCounted) = (read + rest, true)
        } else {
            guard let estimate = counter.rowsTotal else { return nil }
            (rows, isCounted) = (estimate, estimate == read)
        }
    }
}
