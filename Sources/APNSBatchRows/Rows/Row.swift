/// A row as the cursor returns it. A bad row has an `error`.
@safe package struct Row {
    /// The 1-based number of the row. The header and blank lines do not count, bad rows do.
    package var row: UInt64 = 0

    /// The 1-based physical line on which the row begins. Every LF ends a line, also inside quotes.
    package var line: UInt64 = 0

    /// The fields, one per column, without quotes. Of a bad row these are the fields before the fault, at most one per
    /// column, and possibly none.
    ///
    /// They are borrowed: the entries are valid until the cursor's next call, the bytes until the chunk is recycled. This
    /// is unsafe, because a lane cannot store a span.
    package var fields = unsafe UnsafeBufferPointer<UnsafeRawBufferPointer>(start: nil, count: 0)

    /// The row's fault; nil for a good row.
    package var error: RowError?

    /// The first byte of the record, valid as long as the bytes of `fields`.
    var start: UnsafeRawPointer?

    package init() {}

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
        /// A NUL byte. Position: the byte.
        case nulByte
        /// Bytes that are not UTF-8 (RFC 3629). Position: the first byte of the ill-formed sequence.
        case invalidUTF8
        /// A field exceeds the limit. Position: the field's first byte (the opening quote, if it has one).
        case fieldTooLong(limit: Int)
        /// A record exceeds the limit. Position: the record's first byte.
        case recordTooLong(limit: Int)
    }

    /// The 1-based physical line of the fault.
    ///
    /// If the fault was found on a later line than the record's first, the row is that first line alone, and the position
    /// is the opening quote of the field that continues past its end, which shows where a stray quote is.
    package let line: UInt64

    /// The 1-based column of the fault, counted in bytes from the start of its physical line, without a byte order mark.
    package let column: Int

    /// The 0-based index of the faulty field; for a surplus field, the number of columns.
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
