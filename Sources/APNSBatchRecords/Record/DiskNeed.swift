import APNSBatchModel

/// The bytes that the rows of a run need on the disk of its directory.
package struct DiskNeed: Equatable, Sendable {
    /// The number of rows that have no outcome yet.
    package var rows: UInt64
    /// The number of carried columns.
    package var carried: Int
    /// The number of rows that are announced together, so that space is reserved for the longest outcome that each of them can have.
    package var announced: UInt64

    /// The mean bytes of a row with a token of 64 digits and no carried columns, in the ledger and in `results.csv`; measured, docs/internals/performance.md.
    package static let bytesPerRow: UInt64 = 48 + 133

    package init(rows: UInt64, carried: Int, announced: UInt64) {
        (self.rows, self.carried, self.announced) = (rows, carried, announced)
    }

    /// The room for all rows, and for what is reserved while the last of them are sent. Values of carried columns, which are unknown
    /// before, are not in it.
    package var bytes: UInt64 {
        let together = min(rows, announced)
        let reserved = RunLedger.bytesReserved(carried: carried) + ResultsFile.bytesReserved(carried: carried)
        return (rows - together) * Self.bytesPerRow + together * UInt64(reserved)
    }
}
