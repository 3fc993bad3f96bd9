/// What stands between the quotes of a JSON string, escapes not yet resolved. Valid while the scanned bytes are.
struct ReasonText {
    let bytes: UnsafeRawBufferPointer
    let isEscaped: Bool

    /// Whether it is this text, written without escapes.
    func isExactly(_ text: String) -> Bool {
        !isEscaped && text.hasBytes(bytes)
    }

    var reason: Reason {
        isEscaped ? Reason(rawValue: unescaped) : Reason(bytes: bytes)
    }

    /// The text with its escapes resolved (RFC 8259 section 7); one that makes no sense stays as it is, half a
    /// surrogate pair becomes a replacement character.
    private var unescaped: String {
        var units: [UInt16] = []
        var rest = Substring(decoding: bytes, as: UTF8.self).utf16
        while let unit = rest.popFirst() {
            if unit == UInt16(UInt8(ascii: "\\")), let resolved = Self.takeEscape(&rest) {
                units.append(resolved)
            } else {
                units.append(unit)
            }
        }
        return String(decoding: units, as: UTF16.self)
    }

    /// What stands behind a backslash; nothing is taken when it makes no sense.
    private static func takeEscape(_ rest: inout Substring.UTF16View) -> UInt16? {
        guard let unit = rest.first, unit < 128 else { return nil }
        let simple: [Character: UInt16] = [
            "\"": 0x22, "\\": 0x5c, "/": 0x2f, "b": 0x08, "f": 0x0c, "n": 0x0a, "r": 0x0d, "t": 0x09,
        ]
        let character = Character(UnicodeScalar(UInt8(unit)))
        if let value = simple[character] {
            rest.removeFirst()
            return value
        }
        guard character == "u", let value = hexadecimal(rest.dropFirst().prefix(4)) else { return nil }
        rest.removeFirst(5)
        return value
    }

    private static func hexadecimal(_ digits: Substring.UTF16View.SubSequence) -> UInt16? {
        guard digits.count == 4 else { return nil }
        var value: UInt16 = 0
        for digit in digits {
            guard digit < 128, let number = Character(UnicodeScalar(UInt8(digit))).hexDigitValue else { return nil }
            value = value << 4 | UInt16(number)
        }
        return value
    }
}
