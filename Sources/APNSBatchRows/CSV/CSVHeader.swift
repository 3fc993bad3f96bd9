/// Parses the header row, which contains the names of the columns.
struct CSVHeader {
    let dialect: CSVDialect
    let limits: RowLimits

    /// See `RowFormat.columns`.
    func names(of chunk: RowChunk) throws(InputError) -> [String] {
        let record = Array(Self.withoutBlankLines(chunk.first(chunk.byteCount)))
        // Not more than a record may have, because a longer one may be cut off anywhere after that.
        if ForeignFormat.hasBareReturn(record.prefix(min(64 << 10, limits.recordBytes))) {
            throw .foreign(.carriageReturns)
        }
        var cursor = RowCursor(columnCount: fieldCount(of: record), format: .csv(dialect), limits: limits)
        var row = Row()
        cursor.open(chunk)
        guard cursor.next(into: &row) else { throw .noHeader }
        if let error = row.error { throw .badHeader(error) }
        let names = unsafe row.fields.map { unsafe String(decoding: $0, as: UTF8.self) }
        try check(names)
        return names
    }

    /// Returns the number of fields in the record, or before its first fault.
    private func fieldCount(of record: [UInt8]) -> Int {
        let grammar = CSVGrammar(dialect: dialect, limits: limits)
        var (at, count) = (0, 1)
        while case .field(let field) = grammar.field(record.span, at: at, record: 0, final: true),
            !field.endsRecord
        {
            count += 1
            at = field.next
        }
        return count
    }

    /// Returns the bytes behind the blank lines with which they begin.
    private static func withoutBlankLines(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
        var rest = bytes[...]
        while true {
            if rest.first == Byte.lineFeed {
                rest = rest.dropFirst()
            } else if rest.starts(with: [Byte.carriageReturn, Byte.lineFeed]) {
                rest = rest.dropFirst(2)
            } else {
                return rest
            }
        }
    }

    private func check(_ names: [String]) throws(InputError) {
        var seen: [[UInt8]: Int] = [:]
        for (index, name) in names.enumerated() {
            if name.isEmpty { throw .emptyColumnName(index: index) }
            // By bytes, because String's equality treats canonically equivalent names as equal.
            if let first = seen.updateValue(index, forKey: Array(name.utf8)) {
                throw .duplicateColumnName(name, first: first, second: index)
            }
        }
    }
}
