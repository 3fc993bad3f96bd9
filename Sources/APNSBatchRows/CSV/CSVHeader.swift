/// The header row: the names of the columns.
struct CSVHeader {
    let dialect: CSVDialect
    let limits: RowLimits

    /// See `RowFormat.columns`.
    func names(of chunk: RowChunk) throws(InputError) -> [String] {
        let record = UnsafeBufferPointer(start: chunk.bytes, count: min(chunk.ends[0].offset, 64 << 10))
        if ForeignFormat.hasBareReturn(Array(record)) { throw .foreign(.carriageReturns) }
        var cursor = RowCursor(columnCount: fieldCount(of: chunk), format: .csv(dialect), limits: limits)
        var row = Row()
        cursor.open(chunk)
        guard cursor.next(into: &row) else { throw .noHeader }
        if let error = row.error { throw .badHeader(error) }
        let names = row.fields.map { String(decoding: $0, as: UTF8.self) }
        try check(names)
        return names
    }

    /// How many fields the record has, up to a fault.
    private func fieldCount(of chunk: RowChunk) -> Int {
        let grammar = CSVGrammar(dialect: dialect, limits: limits)
        let end = chunk.ends[0].offset
        let start = RowCursor.recordStart(chunk.bytes, from: 0).offset
        var at = start
        var count = 1
        while case .field(let field) = grammar.field(chunk.bytes, at: at, record: start, end: end, final: true),
            !field.endsRecord
        {
            count += 1
            at = field.next
        }
        return count
    }

    private func check(_ names: [String]) throws(InputError) {
        var seen: [[UInt8]: Int] = [:]
        for (index, name) in names.enumerated() {
            if name.isEmpty { throw .emptyColumnName(index: index) }
            // Bytes, because String's equality would take different spellings of a letter for one.
            if let first = seen.updateValue(index, forKey: Array(name.utf8)) {
                throw .duplicateColumnName(name, first: first, second: index)
            }
        }
    }
}
