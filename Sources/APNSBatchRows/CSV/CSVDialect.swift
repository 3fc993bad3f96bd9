/// How the input separates its fields. Everything else is RFC 4180: quotes are `"`, a quote inside a quoted field is
/// doubled, lines end in LF or CRLF.
package struct CSVDialect: Sendable, Equatable {
    /// One ASCII byte.
    package let delimiter: UInt8

    /// Fields separated by commas.
    package static let comma = CSVDialect(unchecked: UInt8(ascii: ","))

    /// - Parameter delimiter: any ASCII byte except NUL, LF, CR and the quote. A byte above 0x7F would tear UTF-8
    ///   sequences apart.
    /// - Throws: `CSVError.badDelimiter`.
    package init(delimiter: UInt8 = UInt8(ascii: ",")) throws(CSVError) {
        guard delimiter < 0x80, ![0, Byte.lineFeed, Byte.carriageReturn, Byte.quote].contains(delimiter) else {
            throw .badDelimiter(delimiter)
        }
        self.init(unchecked: delimiter)
    }

    private init(unchecked delimiter: UInt8) {
        self.delimiter = delimiter
    }
}

/// The bytes that mean something besides the delimiter.
enum Byte {
    static let lineFeed = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")
    static let quote = UInt8(ascii: "\"")
}
