/// The fault of a row, and its position.
///
/// If a row has several faults, this order decides: bytes that are not text (the first of them), then quoting and length
/// (the first in reading order), then the number of fields. A record over the length limit is not searched for bytes that
/// are not text.
package struct RowError: Error, Equatable, Sendable {
    package enum Cause: Equatable, Sendable {
        /// The record has fewer fields than the header. Position: the end of the record; field: the first missing one.
        case tooFewFields(found: Int, expected: Int)
        /// The record has more fields than the header. Position: the first surplus field.
        case tooManyFields(found: Int, expected: Int)
        /// An unquoted field contains a quote. Position: the quote.
        case quoteInUnquotedField
        /// A closing quote is not followed by a delimiter or a line end. Position: the byte after the quote.
        case textAfterClosingQuote
        /// A quoted field is not closed at the end of the input. Position: its opening quote.
        case unclosedQuote
        /// A backslash that escapes something else than programs agree about. Position: the backslash.
        case unknownEscape
        /// A backslash in an unquoted field, where it is text for some programs and an escape for others. Position: the backslash.
        case backslashOutsideQuotes
        /// A NUL byte, or one that is escaped by a backslash. Position: the byte, or the backslash.
        case nulByte
        /// Bytes that are not UTF-8 (RFC 3629). Position: the first byte of the ill-formed sequence.
        case invalidUTF8
        /// A field exceeds the limit. Position: the field's first byte (the opening quote, if it has one).
        case fieldTooLong(limit: Int)
        /// A record exceeds the limit. Position: the record's first byte.
        case recordTooLong(limit: Int)
        /// A line is not a JSON object.
        case json(JSONCause)
    }

    /// Why a line is not a JSON object (RFC 8259) whose members are the fields of a row. Position: the first byte that cannot be
    /// where it stands, unless documented otherwise.
    package enum JSONCause: Error, Sendable {
        case expectedObject, expectedKey, expectedColon, expectedComma, expectedValue, textAfterEnd
        /// Position: the number's first byte.
        case badNumber
        /// Position: the opening quote.
        case unclosedString
        case controlCharacter
        /// Position: the backslash.
        case badEscape
        /// Half of a surrogate pair, which UTF-8 cannot represent. Position: the backslash.
        case loneSurrogate
        /// `\u0000`. Position: the backslash.
        case escapedNUL
        /// More than ``RowLimits/jsonDepthMax`` levels of objects and arrays. Position: the bracket that opens one more.
        case tooDeep
        /// Two members belong to one column. Position: the second key.
        case duplicateKey
    }

    /// The 1-based physical line of the fault.
    ///
    /// If the fault was found on a later line than the record's first, the row is that first line alone, and the position
    /// is the opening quote of the field that continues past its end, which shows where a stray quote is.
    package let line: UInt64

    /// The 1-based column of the fault, counted in bytes from the start of its physical line, without a byte order mark.
    package let column: Int

    /// The 0-based index of the faulty field; for a surplus field, and in a line of JSON, the number of columns.
    package let field: Int

    package let cause: Cause
}

extension RowError.Cause: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooFewFields(let found, let expected), .tooManyFields(let found, let expected):
            "expected \(expected) field\(expected == 1 ? "" : "s"), found \(found)"
        case .quoteInUnquotedField:
            "a quote inside an unquoted field"
        case .textAfterClosingQuote:
            "text after the closing quote of a field"
        case .unclosedQuote:
            "a quoted field that is never closed"
        case .unknownEscape:
            "a backslash before something else than a quote, a backslash or a line end, which programs read differently"
        case .backslashOutsideQuotes:
            "a backslash outside of quotes, which programs read differently: have all texts quoted in the export"
        case .nulByte:
            "a NUL byte"
        case .invalidUTF8:
            "bytes that are not UTF-8"
        case .fieldTooLong(let limit):
            "a field of more than \(limit) bytes"
        case .recordTooLong(let limit):
            "a record of more than \(limit) bytes"
        case .json(let cause):
            cause.description
        }
    }
}

extension RowError.JSONCause: CustomStringConvertible {
    package var description: String {
        switch self {
        case .expectedObject: "expected a JSON object in braces"
        case .expectedKey: "expected a key in quotes"
        case .expectedColon: "expected \":\" after the key"
        case .expectedComma: "expected \",\", or the end of the object or array"
        case .expectedValue: "expected a JSON value"
        case .textAfterEnd: "text after the end of the object"
        case .badNumber: "not a JSON number"
        case .unclosedString: "a string that is never closed"
        case .controlCharacter: "a control character inside a string"
        case .badEscape: "not a JSON escape"
        case .loneSurrogate: "half of a surrogate pair"
        case .escapedNUL: "a NUL character"
        case .tooDeep: "more than \(RowLimits.jsonDepthMax) levels of objects and arrays, the limit of apns-batch"
        case .duplicateKey: "a key that occurs twice"
        }
    }
}
