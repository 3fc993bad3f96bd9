/// The format of an input: how its bytes are split into rows and fields. A new format is a case here, and a folder beside
/// `CSV` with its splitter and its parser, for which the compiler asks at each `switch` of this file.
///
/// The compiler does not ask for the place of a field (`Row.place`), the causes of `RowError`, and the first record, which
/// `readFirst` takes from the rows. Outside of this module the format of a campaign is `Campaign.delimiter`.
///
/// In all formats records end in LF or CR LF, and blank lines are not records.
package enum RowFormat: Sendable, Equatable {
    case csv(CSVDialect)

    /// The byte between fields, in which a header row of the same columns is written.
    package var delimiter: UInt8 {
        switch self {
        case .csv(let dialect): dialect.delimiter
        }
    }
}

extension RowFormat {
    /// Finds the ends of records. The reader thread does nothing else to the bytes.
    ///
    /// - Parameters:
    ///   - bytes: the bytes, from the beginning of a record on; `ByteBlock.slack` more bytes after `count` must be
    ///     readable.
    ///   - final: whether the input ends with these bytes.
    ///   - ends: receives a `RecordEnd` for each record; owned by the caller.
    ///   - capacity: the maximum number of record ends; at least 1.
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

    /// Returns the names of the columns, of which the format knows where they are.
    ///
    /// - Parameter readFirst: takes the first record from the rows, and returns a chunk that contains only it, or nil if
    ///   there is none.
    /// - Throws: `InputError.foreign`, `.noHeader`, `.badHeader`, `.emptyColumnName`, `.duplicateColumnName`.
    func columns(
        limits: RowLimits, readFirst: () throws(InputError) -> RowChunk?
    ) throws(InputError) -> [String] {
        switch self {
        case .csv(let dialect):
            guard let chunk = try readFirst() else { throw .noHeader }
            return try CSVHeader(dialect: dialect, limits: limits).names(of: chunk)
        }
    }
}

// These functions are mutating, although they change no member, because a borrowed cursor would be copied for each row.
extension RowCursor {
    /// Sets `fields` to those of a record that is valid text and within the limits, and returns the number of LFs inside
    /// it. Returns nil, with nothing changed, if the record is bad or unusual and needs `judge`.
    @inline(__always)
    mutating func parse(_ record: Record) -> UInt64? {
        switch format {
        case .csv(let dialect): parseCSV(record, delimiter: dialect.delimiter)
        }
    }

    /// Sets `row.fields` and `row.error` for any record, and returns the number of its LFs.
    @inline(__always)
    mutating func judge(_ record: Record, into row: inout Row) -> UInt64 {
        switch format {
        case .csv(let dialect): judgeCSV(record, dialect, into: &row)
        }
    }
}
