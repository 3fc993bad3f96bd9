/// The dialect of CSV: the delimiter, and how a quote inside a quoted field is written. Everything else follows RFC 4180: quotes are
/// `"`, and lines end in LF or CRLF.
package struct CSVDialect: Sendable, Equatable {
    /// How a quote inside a quoted field is written.
    package enum Escape: Sendable, Equatable {
        /// Doubled, and the input is refused where a backslash before a quote shows that it may have been written otherwise.
        case recognised
        /// Doubled. A backslash is text.
        case none
        /// With a backslash before it, by the rules of `CSVGrammar`.
        case backslash
    }

    /// An ASCII byte.
    package let delimiter: UInt8
    package let escape: Escape

    /// Fields separated by commas.
    package static let comma = CSVDialect(unchecked: UInt8(ascii: ","), .recognised)

    /// - Parameter delimiter: any ASCII byte except NUL, LF, CR, the quote and the escape. A byte above 0x7F could be part of a UTF-8
    ///   sequence.
    package init(delimiter: UInt8 = UInt8(ascii: ","), escape: Escape = .recognised) throws(BadDelimiter) {
        guard delimiter < 0x80, ![0, Byte.lineFeed, Byte.carriageReturn, Byte.quote].contains(delimiter) else {
            throw BadDelimiter(byte: delimiter)
        }
        if delimiter == Byte.backslash, escape == .backslash { throw BadDelimiter(byte: delimiter) }
        // A backslash that separates fields escapes nothing.
        self.init(unchecked: delimiter, delimiter == Byte.backslash ? .none : escape)
    }

    /// A delimiter that is NUL, LF, CR, a quote or not ASCII, or the escape.
    package struct BadDelimiter: Error, Equatable, CustomStringConvertible {
        let byte: UInt8

        package var description: String {
            byte == Byte.backslash
                ? "the delimiter and the escape must be different characters"
                : "the delimiter must be one ASCII character other than a quote or a line end, not byte \(byte)"
        }
    }

    private init(unchecked delimiter: UInt8, _ escape: Escape) { (self.delimiter, self.escape) = (delimiter, escape) }
}
