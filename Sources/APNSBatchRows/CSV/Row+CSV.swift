// The place of a field in CSV.
extension Row {
    /// Returns the position in the input at which the content of a field of a good row begins, after its opening quote: the
    /// 1-based physical line and the 1-based column in bytes. It is meant for error messages, because it reads all fields
    /// before this one.
    ///
    /// It counts over the fields and not over the bytes between them, which unescaping has changed.
    package func place(of field: Int) -> (line: UInt64, column: Int) {
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
