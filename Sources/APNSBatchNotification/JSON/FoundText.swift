import APNSBatchBasics

/// The text at a place, in a form suitable for messages: short, printable, and quoted.
struct FoundText {
    let bytes: [UInt8]
    let offset: Int

    /// The maximum number of bytes of a field or word in a message.
    static let lengthLimit = 32

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
        let scalar = String(decoding: bytes[offset..<min(offset + 4, bytes.count)], as: UTF8.self).unicodeScalars
            .first
        return scalar.map { String($0).quoted } ?? "the end"
    }

    /// The mark of a comment that begins at the place, in quotes, as JavaScript and YAML have them; nil if there is none.
    var commentMark: String? {
        ["//", "/*", "#"].first { bytes[min(offset, bytes.count)...].starts(with: $0.utf8) }.map(\.quoted)
    }

    /// The escape that begins at the place: `"\x"`, or `"\ud83d"`.
    var escape: String {
        let isUnicode = offset + 1 < bytes.count && bytes[offset + 1] == UInt8(ascii: "u")
        let end = min(offset + (isUnicode ? 6 : 2), bytes.count)
        return Self.quoted(bytes[offset..<end])
    }

    /// The bare word or number that begins at the place.
    var word: String {
        var end = offset
        while end < bytes.count, JSONScanner.isWordByte(bytes[end]) { end += 1 }
        return Self.quoted(bytes[offset..<end])
    }

    /// Returns the bytes in quotes, cut to ``lengthLimit`` at a character boundary and made printable.
    /// It never shows a card number.
    static func quoted(_ bytes: some Collection<UInt8>) -> String {
        let bytes = Array(bytes)
        if CardNumber.first(in: bytes.span) != nil { return "what looks like a card number" }
        var end = min(bytes.count, lengthLimit)
        while end > 0, end < bytes.count, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        let text = Printable.visible(String(decoding: bytes[..<end], as: UTF8.self))
        return "\"" + text + (end < bytes.count ? "…\"" : "\"")
    }

    private static func hex(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16, uppercase: true)
        return digits.count == 1 ? "0" + digits : digits
    }
}

/// A place in a text as editors show it: line and column count from 1, columns in characters (Unicode scalars).
struct TextPlace: Equatable {
    var line = 1
    var column = 1

    init(offset: Int, in bytes: some Sequence<UInt8>) {
        for byte in bytes.prefix(offset) {
            if byte == UInt8(ascii: "\n") {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
        }
    }
}
