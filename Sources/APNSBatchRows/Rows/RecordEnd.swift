/// Where a record ends: the offset behind its line end, and what the splitter knows that the record's bytes do not
/// tell.
struct RecordEnd: Equatable {
    private let word: UInt32

    private static let offsetBits: UInt32 = 28

    /// - Parameter cut: why the record is the first line of one that went wrong on a later line, as its format numbers the
    ///   causes: 1...15. 0 for a record whose bytes tell all.
    @inline(__always)
    init(offset: Int, cut: UInt32 = 0) {
        word = UInt32(truncatingIfNeeded: offset) | cut &<< Self.offsetBits
    }

    @inline(__always)
    var offset: Int { Int(word & (1 &<< Self.offsetBits &- 1)) }

    @inline(__always)
    var cut: UInt32 { word &>> Self.offsetBits }
}

/// What a splitter found in the bytes of a buffer.
struct SplitResult {
    /// Records found.
    var records = 0
    /// Bytes that need not be seen again: records, blank lines, and the seen part of a line to be skipped.
    var consumed = 0
    /// Physical lines among the consumed bytes. A line to be skipped counts.
    var lines = 0
    /// The last record is the beginning of a line so long that it does not fit. The bytes up to and with the next
    /// LF are to be thrown away.
    var skipsLine = false
}
