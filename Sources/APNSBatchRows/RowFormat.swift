/// How the bytes of an input are rows of fields. A new format is a case here and a folder beside `CSV` with its splitter and
/// its parser: the compiler asks for them at each `switch` of this file, and nothing else of the module knows formats.
///
/// Records of all formats end in LF or CR LF, and blank lines are none.
package enum RowFormat: Sendable, Equatable {
    case csv(CSVDialect)
}

extension RowFormat {
    /// Finds where records end: all that the reader's thread does to the bytes.
    ///
    /// - Parameters:
    ///   - bytes: begins where a record begins; `ByteBlock.slack` readable bytes behind `count`.
    ///   - final: whether the input ends with these bytes.
    ///   - ends: receives a `RecordEnd` for each record; owned by the caller.
    ///   - capacity: how many at most; at least 1.
    func split(
        _ bytes: UnsafePointer<UInt8>, count: Int, final: Bool, into ends: UnsafeMutablePointer<RecordEnd>,
        capacity: Int, limits: RowLimits
    ) -> SplitResult {
        switch self {
        case .csv(let dialect):
            var splitter = unsafe CSVSplitter(
                grammar: CSVGrammar(dialect: dialect, limits: limits), bytes: bytes, count: count, final: final,
                ends: ends, capacity: capacity)
            splitter.run()
            return splitter.result
        }
    }

    /// The names of the columns.
    ///
    /// - Parameter chunk: holds the first record and nothing else.
    /// - Throws: `InputError.foreign`, `.noHeader`, `.badHeader`, `.emptyColumnName`, `.duplicateColumnName`.
    func columns(of chunk: RowChunk, limits: RowLimits) throws(InputError) -> [String] {
        switch self {
        case .csv(let dialect): try CSVHeader(dialect: dialect, limits: limits).names(of: chunk)
        }
    }
}

// Mutating, although no member changes: a borrowed cursor would be copied out of its place for each row.
extension RowCursor {
    /// Fills `fields` with those of a record that is text and within the limits, and returns how many line ends are inside.
    /// Nil, with nothing changed, if the record is not a good row or needs a closer look.
    @inline(__always)
    mutating func parse(_ record: Record) -> UInt64? {
        switch format {
        case .csv(let dialect): parseCSV(record, delimiter: dialect.delimiter)
        }
    }

    /// Fills `row.fields` and `row.error`, whatever the record is, and returns how many LFs it has.
    @inline(__always)
    mutating func judge(_ record: Record, into row: inout Row) -> UInt64 {
        switch format {
        case .csv(let dialect): judgeCSV(record, dialect, into: &row)
        }
    }
}
