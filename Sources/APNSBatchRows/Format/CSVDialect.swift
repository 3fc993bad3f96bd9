/// The dialect of CSV, that is, the delimiter. Everything else follows RFC 4180: quotes are `"`, a quote inside a quoted
/// field is doubled, and lines end in LF or CRLF.
package struct CSVDialect: Sendable, Equatable {
    /// An ASCII byte.
    package let delimiter: UInt8

    /// Fields separated by commas.
    package static let comma = CSVDialect(unchecked: UInt8(ascii: ","))

    /// - Parameter delimiter: any ASCII byte except NUL, LF, CR and the quote. A byte above 0x7F could be part of a UTF-8
    ///   sequence.
    package init(delimiter: UInt8 = UInt8(ascii: ",")) throws(BadDelimiter) {
        guard delimiter < 0x80, ![0, Byte.lineFeed, Byte.carriageReturn, Byte.quote].contains(delimiter) else {
            throw BadDelimiter(byte: delimiter)
        }
        self.init(unchecked: delimiter)
    }

    /// A delimiter that is NUL, LF, CR, a quote or not ASCII.
    package struct BadDelimiter: Error, Equatable, CustomStringConvertible {
        let byte: UInt8

        package var description: String {
            "the delimiter must be one ASCII character other than a quote or a line end, not byte \(byte)"
        }
    }

    private init(unchecked delimiter: UInt8) {
        self.delimiter = delimiter
    }
}
