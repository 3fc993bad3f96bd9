/// Why a text is not valid JSON (RFC 8259) or not a payload. The most common mistakes in payloads that were written by hand
/// or copied from a document have their own cases.
package enum JSONFault: UInt8, Sendable, Hashable {
    /// The text contains nothing but white space.
    case empty
    /// The text ends before its last value is complete.
    case unexpectedEnd
    /// The top value is not an object.
    case expectedObject
    case expectedValue
    case expectedKey
    case expectedColon
    case expectedCommaOrBrace
    case expectedCommaOrBracket
    /// Two members or elements have no comma between them.
    case missingComma
    /// A comma is followed by the end of its object or array.
    case trailingComma
    /// A curly quote or a guillemet is where a string should begin or end.
    case typographicQuote
    /// An apostrophe is where a string should begin.
    case singleQuote
    case unterminatedString
    /// A string contains a byte below 0x20 (RFC 8259 section 7).
    case controlCharacter
    /// A backslash precedes a character that has no escape, such as in `\U`.
    case badEscape
    /// `\u` without four hex digits.
    case badUnicodeEscape
    /// One half of a surrogate pair, which UTF-8 cannot represent.
    case loneSurrogate
    case invalidUTF8
    case badNumber
    /// A bare word other than `true`, `false` and `null`.
    case badLiteral
    /// There are more than ``JSONScanner/depthLimit`` levels of objects and arrays.
    case tooDeep
    case textAfterEnd
}

extension JSONFault {
    /// The fault as text, with what was found.
    /// - Parameters:
    ///   - bytes: the text that was scanned.
    ///   - offset: the offset of the fault in bytes.
    package func message(in bytes: UnsafeRawBufferPointer, at offset: Int) -> String {
        let found = unsafe FoundText(bytes: Array(bytes), offset: offset)
        if let mark = found.commentMark, mayBeComment {
            return "found the comment \(mark), JSON has no comments: remove it"
        }
        switch self {
        case .empty: return "expected JSON, found nothing"
        case .unexpectedEnd: return "the JSON ends too early"
        case .expectedObject: return "expected an object in braces, found \(found.character)"
        case .expectedValue: return "expected a value, found \(found.character)"
        case .expectedKey: return "expected a key in quotes, found \(found.character)"
        case .expectedColon: return "expected \":\" after the key, found \(found.character)"
        case .expectedCommaOrBrace: return "expected \",\" or \"}\", found \(found.character)"
        case .expectedCommaOrBracket: return "expected \",\" or \"]\", found \(found.character)"
        case .missingComma: return "missing comma before \(found.character)"
        case .trailingComma: return "trailing comma"
        case .typographicQuote: return "typographic quote \(found.character), JSON needs the straight one"
        case .singleQuote: return "single quote, JSON needs the double one"
        case .unterminatedString: return "this string is never closed"
        case .controlCharacter: return "\(found.character) inside a string"
        case .badEscape: return "\(found.escape) is not a JSON escape"
        case .badUnicodeEscape: return "\"\\u\" needs four hex digits"
        case .loneSurrogate: return "\(found.escape) is half of a surrogate pair"
        case .invalidUTF8: return "invalid UTF-8"
        case .badNumber: return "\(found.word) is not a JSON number"
        case .badLiteral: return "\(found.word) is not a JSON value"
        case .tooDeep:
            return "more than \(JSONScanner.depthLimit) levels of objects and arrays, the limit of apns-batch"
        case .textAfterEnd: return "\(found.character) after the end of the JSON"
        }
    }

    /// Whether the fault is that something else is in the place of what JSON has there.
    private var mayBeComment: Bool {
        switch self {
        case .expectedObject, .expectedValue, .expectedKey, .expectedColon, .expectedCommaOrBrace,
            .expectedCommaOrBracket,
            .badLiteral, .textAfterEnd:
            true
        default: false
        }
    }
}
