/// Finds where records end: all that the reader's thread does to the bytes.
///
/// A record with a quoting fault, or over a limit, is its first physical line alone, and reading resumes on the next
/// line, so that a stray quote costs one row and not its neighbours. No byte is looked at again and again for that: a
/// line with an odd number of quotes closes or breaks whatever the line before it opened, and a line with an even
/// number opens nothing itself, so a region is scanned about twice at worst.
struct RecordSplitter {
    let grammar: CSVGrammar

    struct Result {
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

    /// - Parameters:
    ///   - bytes: begins where a record begins; `ByteBlock.slack` readable bytes behind `count`.
    ///   - final: whether the input ends with these bytes.
    ///   - ends: receives a `RecordEnd` for each record; owned by the caller.
    ///   - capacity: how many at most; at least 1.
    func split(
        _ bytes: UnsafePointer<UInt8>, count: Int, final: Bool, into ends: UnsafeMutablePointer<RecordEnd>,
        capacity: Int
    ) -> Result {
        var pass = SplitterPass(
            grammar: grammar, bytes: bytes, count: count, final: final, ends: ends, capacity: capacity)
        pass.run()
        return pass.result
    }
}

/// Where a record ends: the offset behind its line end, and what the splitter knows that the record's bytes do not
/// tell.
struct RecordEnd: Equatable {
    private let word: UInt32

    private static let offsetBits: UInt32 = 28

    /// A record whose bytes tell all.
    @inline(__always)
    init(offset: Int) {
        word = UInt32(truncatingIfNeeded: offset)
    }

    /// The first line of a record that went wrong on a later line.
    init(offset: Int, cut: CSVGrammar.Fault.Cause) {
        let code: UInt32 =
            switch cut {
            case .quoteInUnquotedField: 1
            case .textAfterClosingQuote: 2
            case .unclosedQuote: 3
            case .fieldTooLong: 4
            case .recordTooLong: 5
            }
        word = UInt32(truncatingIfNeeded: offset) | code &<< Self.offsetBits
    }

    @inline(__always)
    var offset: Int {
        Int(word & (1 &<< Self.offsetBits &- 1))
    }

    @inline(__always)
    var isCut: Bool {
        word &>> Self.offsetBits != 0
    }

    var cut: CSVGrammar.Fault.Cause? {
        switch word &>> Self.offsetBits {
        case 1: .quoteInUnquotedField
        case 2: .textAfterClosingQuote
        case 3: .unclosedQuote
        case 4: .fieldTooLong
        case 5: .recordTooLong
        default: nil
        }
    }
}
