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
