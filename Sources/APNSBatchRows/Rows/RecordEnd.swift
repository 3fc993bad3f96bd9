/// The end of a record: the offset after its line end, and what the splitter found out that the record's bytes do not show.
struct RecordEnd: Equatable {
    private let word: UInt32

    private static let offsetBits: UInt32 = 28

    /// - Parameter cut: why this record is only the first line of a record whose fault is on a later line: a number from 1
    ///   to 15 that its format assigns to the cause. 0 for all other records.
    @inline(__always)
    init(offset: Int, cut: UInt32 = 0) {
        word = UInt32(truncatingIfNeeded: offset) | cut &<< Self.offsetBits
    }

    @inline(__always)
    var offset: Int { Int(word & ((1 &<< Self.offsetBits) &- 1)) }

    @inline(__always)
    var cut: UInt32 { word &>> Self.offsetBits }
}

/// The result of splitting the bytes of a buffer.
struct SplitResult {
    /// The number of records found.
    var records = 0
    /// The number of bytes that are done with: records, blank lines, and the part seen of a line to be skipped.
    var consumed = 0
    /// The number of physical lines in the consumed bytes. A line to be skipped counts.
    var lines = 0
    /// Whether the last record is the beginning of a line that does not fit into the buffer. The bytes up to and including
    /// the next LF must be dropped.
    var skipsLine = false
    /// Why the record after the last one cannot be read; nil if it can.
    var dispute: QuotingDispute?
}
