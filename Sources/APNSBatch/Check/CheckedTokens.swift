import APNSBatchBasics
import APNSBatchCredentials
import APNSBatchModel
import APNSBatchPlanning

/// The tokens that one thread of a check has found.
struct CheckedTokens: ~Copyable {
    private let digests: SharedDigests
    private var rows: [KeyedRow] = []

    init(_ digests: SharedDigests) {
        self.digests = digests
        rows.reserveCapacity(SharedDigests.batch)
    }

    /// Returns the digest of the bytes of a token.
    ///
    /// - Parameter digits: Its hexadecimal digits, an even number.
    static func digest(of digits: UnsafeRawBufferPointer) -> (UInt64, UInt64) {
        let count = digits.count / 2
        return withUnsafeTemporaryAllocation(byteCount: (count + 7) & ~7, alignment: 8) { bytes in
            if let start = bytes.baseAddress { Hex.pack(digits, to: start) }
            return SHA256.firstHalf(of: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        }
    }

    /// Notes a row that would be sent, with the digest of its token.
    mutating func note(_ digest: (UInt64, UInt64), row: UInt64, at place: TokenPlace) {
        rows.append(KeyedRow(digest: digest, row: row, note: place.word))
        if rows.count == SharedDigests.batch { passOn() }
    }

    /// Passes the rows on, so that they can be compared with those of other threads.
    mutating func passOn() {
        digests.add(rows.span)
        rows.removeAll(keepingCapacity: true)
    }
}

/// Where the token of a row is in the input, and whether the row has another warning.
struct TokenPlace: Equatable {
    var line: UInt64
    var column: Int
    var hasWarning: Bool

    private static let columnMax = (1 << 23) - 1

    init(line: UInt64, column: Int, hasWarning: Bool) {
        (self.line, self.column, self.hasWarning) = (line, min(column, Self.columnMax), hasWarning)
    }

    /// Reads what ``word`` returned.
    init(word: UInt64) {
        self.init(line: word >> 24, column: Int(word >> 1 & UInt64(Self.columnMax)), hasWarning: word & 1 != 0)
    }

    /// Line (40 bits), column (23), warning (1).
    var word: UInt64 { line << 24 | UInt64(column) << 1 | (hasWarning ? 1 : 0) }
}
