// The place of a field in CSV.
extension Row {
    /// See `place(of:)`. It reads all fields before this one, and counts over the fields and not over the bytes between them, which
    /// unescaping has changed.
    func placeInCSV(of field: Int, _ dialect: CSVDialect) -> (line: UInt64, column: Int) {
        guard let start = unsafe start else { return (line, 1) }
        var place = (line: line, column: 1)
        let wanted = original(of: field)
        for index in unsafe 0..<min(wanted + 1, fields.count) {
            let content = unsafe fields[index]
            // An unquoted field follows a delimiter, or begins the record.
            let isQuoted = unsafe content.baseAddress.map {
                unsafe $0 > start && $0.load(fromByteOffset: -1, as: UInt8.self) == Byte.quote
            }
            let quotes = isQuoted == true ? 1 : 0
            place.column += quotes
            if index == wanted { break }
            if dialect.escape == .backslash { place.column += unsafe bytesOfNull(content) }
            for at in 0..<content.count {
                let byte = unsafe content[at]
                let isEscaped = byte == Byte.quote || byte == Byte.backslash && dialect.escape == .backslash
                place.column += isEscaped ? 2 : 1
                if byte == Byte.lineFeed { place = (place.line + 1, 1) }
            }
            place.column += quotes + 1
        }
        return place
    }

    /// The number of bytes by which a field that is empty is written as NULL, outside of quotes.
    private func bytesOfNull(_ content: UnsafeRawBufferPointer) -> Int {
        guard content.count == 0, let base = content.baseAddress else { return 0 }
        return unsafe base.load(as: UInt8.self) == Byte.backslash ? 2 : 0
    }

    /// Returns the column of the record whose field a copy is; another field is its own.
    private func original(of field: Int) -> Int {
        guard unsafe field < fields.count, let content = unsafe fields[field].baseAddress else { return field }
        return unsafe fields[..<field].firstIndex { unsafe $0.baseAddress == content } ?? field
    }
}
