/// Text that may come from outside (a file name, a server, another program), in a form that can do no harm where it is shown: on one
/// line, without characters that a terminal obeys or that change the direction of what follows.
///
/// Such characters become escapes of JSON: `\n`, `\u001b`. Text in which every one is escaped stays as it is, backslashes included, so
/// that text may pass here more than once, and a document of JSON keeps its meaning.
package enum Printable {
    /// Returns the text on one line.
    package static func text(_ text: String) -> String { escaped(text, keepsLines: false) }

    /// Returns a message on one line, without keys and other secrets that it quotes by mistake.
    package static func message(_ text: String) -> String { self.text(SecretText.hidden(text)) }

    /// Returns a text of several lines, whose line feeds stay.
    package static func lines(_ text: String) -> String { escaped(text, keepsLines: true) }

    /// Returns the text that bytes hold, on one line. Bytes that are not UTF-8 become `\xff`.
    package static func text(bytes: some Sequence<UInt8>) -> String {
        let bytes = Array(bytes)
        if let whole = String(validating: bytes, as: UTF8.self) { return text(whole) }
        var (result, rest) = ("", bytes[...])
        while let first = rest.first {
            let character = (1...4).lazy.compactMap { String(validating: rest.prefix($0), as: UTF8.self) }.first
            result += character.map(text) ?? "\\x" + hex(UInt32(first), digits: 2)
            rest = rest.dropFirst(character?.utf8.count ?? 1)
        }
        return result
    }

    private static func escaped(_ text: String, keepsLines: Bool) -> String {
        func isKept(_ scalar: Unicode.Scalar) -> Bool { !scalar.isHarmful || keepsLines && scalar == "\n" }
        // Nearly all texts are.
        if text.unicodeScalars.allSatisfy(isKept) { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if isKept(scalar) {
                result.append(scalar)
            } else {
                result.append(contentsOf: escape(scalar).unicodeScalars)
            }
        }
        return String(result)
    }

    /// Every harmful character is one code unit of UTF-16.
    private static func escape(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\n": "\\n"
        case "\r": "\\r"
        case "\t": "\\t"
        default: "\\u" + hex(scalar.value, digits: 4)
        }
    }

    private static func hex(_ value: UInt32, digits: Int) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: digits - text.count) + text
    }
}

extension Unicode.Scalar {
    /// Whether a terminal may obey the character, or show what follows it in another place: controls (C0, DEL, C1), line and paragraph
    /// separators, the controls of direction (Unicode, UAX #9, section 2), and deprecated and annotating format characters.
    @inlinable package var isHarmful: Bool {
        switch value {
        case 0x20..<0x7F: false
        case 0..<0x20, 0x7F..<0xA0: true
        case 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x206F, 0xFFF9...0xFFFB: true
        default: false
        }
    }
}
