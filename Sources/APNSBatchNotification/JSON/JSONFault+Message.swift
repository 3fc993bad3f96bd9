extension JSONFault {
    /// The fault in words, with what was found.
    /// - Parameters:
    ///   - bytes: the text that was scanned.
    ///   - offset: where the fault is, in bytes from its start.
    package func message(in bytes: UnsafeRawBufferPointer, at offset: Int) -> String {
        let found = FoundText(bytes: bytes, offset: offset)
        switch self {
        case .empty: return "there is no JSON here"
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
        case .badEscape: return "\(found.escape) is no escape of JSON"
        case .badUnicodeEscape: return "\"\\u\" needs four hex digits"
        case .loneSurrogate: return "\(found.escape) is half of a surrogate pair"
        case .invalidUTF8: return "invalid UTF-8"
        case .badNumber: return "\(found.word) is no number of JSON"
        case .badLiteral: return "\(found.word) is no value of JSON"
        case .tooDeep: return "more than \(JSONScanner.depthLimit) levels of objects and arrays"
        case .textAfterEnd: return "\(found.character) after the end of the JSON"
        }
    }
}

/// What stands at a place of a text, in a form fit for a message: short, printable, quoted.
struct FoundText {
    let bytes: UnsafeRawBufferPointer
    let offset: Int

    /// Bytes of a field or word that a message shows before it is cut.
    static let lengthLimit = 32

    /// The character at the place.
    var character: String {
        guard offset < bytes.count else { return "the end" }
        switch bytes[offset] {
        case UInt8(ascii: "\n"), UInt8(ascii: "\r"): return "a line break"
        case UInt8(ascii: "\t"): return "a tab"
        case UInt8(ascii: "\""): return "a quote"
        case 0..<0x20: return "control character 0x" + Self.hex(bytes[offset])
        case 0x80..<0xC0, 0xF8...: return "byte 0x" + Self.hex(bytes[offset])
        default: break
        }
        let scalar = String(decoding: bytes[offset..<min(offset + 4, bytes.count)], as: UTF8.self).unicodeScalars.first
        return scalar.map { "\"\($0)\"" } ?? "the end"
    }

    /// The escape that begins at the place: `"\x"`, or `"\ud83d"`.
    var escape: String {
        let isUnicode = offset + 1 < bytes.count && bytes[offset + 1] == UInt8(ascii: "u")
        let end = min(offset + (isUnicode ? 6 : 2), bytes.count)
        return Self.quoted(UnsafeRawBufferPointer(rebasing: bytes[offset..<end]))
    }

    /// The bare word or number that begins at the place.
    var word: String {
        var end = offset
        while end < bytes.count, JSONScanner.isWordByte(bytes[end]) { end += 1 }
        return Self.quoted(UnsafeRawBufferPointer(rebasing: bytes[offset..<end]))
    }

    /// The bytes in quotes, cut to ``lengthLimit`` at a character's border, control characters made visible; never a
    /// card's number.
    static func quoted(_ bytes: UnsafeRawBufferPointer) -> String {
        if CardNumber.isHeld(in: bytes) { return "a number like a card's" }
        var end = min(bytes.count, lengthLimit)
        while end > 0, end < bytes.count, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        var text = "\""
        for scalar in String(decoding: bytes[..<end], as: UTF8.self).unicodeScalars {
            switch scalar {
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case let control where control.value < 0x20 || control.value == 0x7F:
                text += "\\x" + hex(UInt8(control.value))
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + (end < bytes.count ? "…\"" : "\"")
    }

    private static func hex(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16, uppercase: true)
        return digits.count == 1 ? "0" + digits : digits
    }
}
