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
                grammar: CSVGrammar(dialect: dialect, limits: limits, findsEndsOnly: true), bytes: bytes, count: count,
                final: final,
                ends: ends, capacity: capacity)
            splitter.run()
            return splitter.result
        case .ndjson:
            var splitter = unsafe NDJSONSplitter(
                bytes: bytes, count: count, final: final, ends: ends, capacity: capacity,
                recordBytesMax: limits.recordBytes)
            splitter.run()
            return splitter.result
        }
    }

    /// Returns the names of the columns whose places the format has.
    ///
    /// - Parameters:
    ///   - wanted: returns the columns of an input without a header row.
    ///   - readFirst: takes the first record from the rows, and returns a chunk that contains only it, or nil if there is none.
    /// - Throws: `InputError.foreign`, `.noHeader`, `.badHeader`, `.emptyColumnName`, `.duplicateColumnName`.
    func columns(
        limits: RowLimits, wanted: () -> [JSONColumn], readFirst: () throws(InputError) -> RowChunk?
    ) throws(InputError) -> [String] {
        switch self {
        case .csv(let dialect):
            guard let chunk = try readFirst() else { throw .noHeader }
            return try CSVHeader(dialect: dialect, limits: limits).names(of: chunk)
        case .ndjson: return wanted().map(\.name)
        }
    }
}

extension RowFormat {
    /// Returns the beginning of an input that has these columns: a header row, or a line from which the format is recognised.
    package func beginning(columns: [String]) -> [UInt8] {
        switch self {
        case .csv(let dialect): RowPipe.headerRow(columns, delimiter: dialect.delimiter)
        case .ndjson: Array("{}\n".utf8)
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
        case .csv(let dialect): dialect.escape == .backslash ? nil : parseCSV(record, delimiter: dialect.delimiter)
        case .ndjson: parseNDJSON(record)
        }
    }

    /// Sets `row.fields` and `row.error` for any record, and returns the number of its LFs.
    @inline(__always)
    mutating func judge(_ record: Record, into row: inout Row) -> UInt64 {
        switch format {
        case .csv(let dialect): judgeCSV(record, dialect, into: &row)
        case .ndjson: judgeNDJSON(record, into: &row)
        }
    }
}

extension Row {
    /// Returns the position in the input at which the content of a field of a good row begins, after its opening quote: the
    /// 1-based physical line and the 1-based column in bytes. That of a field that the row does not have is the row's. It is meant for
    /// error messages, because it may read all fields before this one.
    package func place(of field: Int) -> (line: UInt64, column: Int) {
        switch format {
        case .csv(let dialect): placeInCSV(of: field, dialect)
        case .ndjson: placeInNDJSON(of: field)
        }
    }
}
