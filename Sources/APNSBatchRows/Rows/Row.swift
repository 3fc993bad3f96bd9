/// One row as the cursor hands it out. A bad row is a value: `error` is set.
@safe package struct Row {
    /// 1-based number among the data rows: the header and blank lines do not count, bad rows do.
    package var row: UInt64 = 0

    /// 1-based physical line on which the row begins. Every LF ends a line, also one inside quotes.
    package var line: UInt64 = 0

    /// One entry per column, quotes removed. Of a bad row, the fields that were complete before the fault, which may be
    /// none; at most as many as there are columns.
    ///
    /// Borrowed, and unsafe because a span cannot be kept by a lane: the entries are valid until the cursor's next call, the bytes until the chunk is recycled.
    package var fields = unsafe UnsafeBufferPointer<UnsafeRawBufferPointer>(start: nil, count: 0)

    /// What is wrong with the row.
    package var error: RowError?

    /// The record's first byte; as long as its bytes are valid.
    var start: UnsafeRawPointer?

    package init() {}

    /// Where the content of a field of a good row begins in the input, behind its opening quote: 1-based physical line,
    /// and 1-based column in bytes. For error texts: it reads the fields before it.
    ///
    /// Counted over the fields and not over the bytes between them, which unescaping has left in disorder.
    package func place(of field: Int) -> (line: UInt64, column: Int) {
        guard let start = unsafe start else { return (line, 1) }
        var place = (line: line, column: 1)
        for index in unsafe 0..<min(field + 1, fields.count) {
            let content = unsafe fields[index]
            // An unquoted field follows a delimiter, or is where the record starts.
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

/// What is wrong with a row, and where.
///
/// When a row has several faults, this order decides: bytes that are not text (the first of them), then quoting and
/// length (the first in reading order), then the number of fields. A record over the length limit is not searched for
/// bytes that are not text.
package struct RowError: Error, Equatable, Sendable {
    package enum Cause: Equatable, Sendable {
        /// The record ends before all columns have a field. Position: the end of the record; field: the first missing.
        case tooFewFields(found: Int, expected: Int)
        /// The record has more fields than the header. Position: the first field too many.
        case tooManyFields(found: Int, expected: Int)
        /// A quote in a field that does not begin with one. Position: the quote.
        case quoteInUnquotedField
        /// Something other than a delimiter or a line end follows a closing quote. Position: that byte.
        case textAfterClosingQuote
        /// A quoted field is still open at the end of the input. Position: its opening quote.
        case unclosedQuote
        /// A NUL byte. Position: the byte.
        case nulByte
        /// Bytes that are not UTF-8 (RFC 3629). Position: the first byte of the ill-formed sequence.
        case invalidUTF8
        /// A field over the limit. Position: the field's first byte (the opening quote, if it has one).
        case fieldTooLong(limit: Int)
        /// A record over the limit. Position: the record's first byte.
        case recordTooLong(limit: Int)
    }

    /// 1-based physical line of the fault.
    ///
    /// When the fault came to light on a later line than the record's first, the row is that first line alone, and the
    /// position is the opening quote of the field that runs over its end: a stray quote is found there.
    package let line: UInt64

    /// 1-based column of the fault, counted in bytes from the start of its physical line (a byte order mark not
    /// included).
    package let column: Int

    /// 0-based index of the field at fault; the number of columns for the first field too many.
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
        case .nulByte:
            "a NUL byte"
        case .invalidUTF8:
            "bytes that are not UTF-8"
        case .fieldTooLong(let limit):
            "a field of more than \(limit) bytes"
        case .recordTooLong(let limit):
            "a record of more than \(limit) bytes"
        }
    }
}
