/// A row under a key, such as its device token. A key is known by the first 16 bytes of its SHA-256.
package struct KeyedRow: Sendable, BitwiseCopyable, Equatable {
    /// The digest, as two big-endian numbers.
    package var high: UInt64
    package var low: UInt64
    /// The number of the row in the input, from 1.
    package var row: UInt64
    /// What the caller keeps with the row.
    package var note: UInt64

    package init(digest: (UInt64, UInt64), row: UInt64, note: UInt64 = 0) {
        (high, low) = digest
        (self.row, self.note) = (row, note)
    }

    /// The number of bytes of a row in memory and in a file.
    package static let bytes = 32

    package func hasKey(of other: KeyedRow) -> Bool { high == other.high && low == other.low }

    /// The order of keys, and of rows with the same key.
    @inline(__always)
    static func < (left: KeyedRow, right: KeyedRow) -> Bool {
        if left.high != right.high { return left.high < right.high }
        if left.low != right.low { return left.low < right.low }
        return left.row < right.row
    }
}
