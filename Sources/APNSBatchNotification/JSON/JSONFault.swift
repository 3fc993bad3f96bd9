/// Why a text is not the JSON of RFC 8259 that APNs wants. The mistakes that people make most often when they write a
/// payload by hand or copy it from a document have names of their own.
package enum JSONFault: UInt8, Sendable, Hashable {
    /// There is nothing but white space.
    case empty
    /// The text ends before its last value is complete.
    case unexpectedEnd
    /// A payload is an object; this one is another value.
    case expectedObject
    case expectedValue
    case expectedKey
    case expectedColon
    case expectedCommaOrBrace
    case expectedCommaOrBracket
    /// Two members or elements stand side by side.
    case missingComma
    /// A comma is followed by the end of its object or array.
    case trailingComma
    /// A curly quote or a guillemet where a string should start or end.
    case typographicQuote
    /// An apostrophe where a string should start.
    case singleQuote
    case unterminatedString
    /// A byte below 0x20 inside a string (RFC 8259, section 7).
    case controlCharacter
    /// A backslash before a character that has no escape, `\U` among them.
    case badEscape
    /// `\u` without four hex digits.
    case badUnicodeEscape
    /// Half of a surrogate pair: no UTF-8 can carry it.
    case loneSurrogate
    case invalidUTF8
    case badNumber
    /// A bare word other than `true`, `false` and `null`.
    case badLiteral
    /// More than ``JSONScanner/depthLimit`` levels of objects and arrays.
    case tooDeep
    case textAfterEnd
}

extension JSONFault {
    /// The fault in words, with what was found.
    /// - Parameters:
    ///   - bytes: the text that was scanned.
    ///   - offset: where the fault is, in bytes from its start.
    package func message(in bytes: UnsafeRawBufferPointer, at offset: Int) -> String {
        let found = unsafe FoundText(bytes: Array(bytes), offset: offset)
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
        case .tooDeep: return "more than \(JSONScanner.depthLimit) levels of objects and arrays"
        case .textAfterEnd: return "\(found.character) after the end of the JSON"
        }
    }
}
