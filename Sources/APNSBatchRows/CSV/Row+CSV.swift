// The place of a field in CSV.
extension Row {
    /// See `place(of:)`. It reads all fields before this one, and counts over the fields and not over the bytes between them, which
    /// unescaping has changed.
    func placeInCSV(of field: Int) -> (line: UInt64, column: Int) {
        guard let start = unsafe start else { return (line, 1) }
        var place = (line: line, column: 1)
        for index in unsafe 0..<min(field + 1, fields.count) {
            let content = unsafe fields[index]
            // An unquoted field follows a delimiter, or begins the record.
            let isQuoted = unsafe content.baseAddress.map {
                unsafe $0 > start && $0.load(fromByteOffset: -1, as: UInt8.self) == Byte.quote
            }
            let quotes = isQuoted == true ? 1 : 0
            place.column += quotes
            if index == field { break }
            for byte in unsafe Array(content) {
                place.column += byte == Byte.quote ? 2 : 1
                if byte == Byte.lineFeed { place = (place.line + 1, 1) }
            }
            place.column += quotes + 1
        }
        return place
    }
}
