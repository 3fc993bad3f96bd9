/// Base64 with padding (RFC 4648, section 4), as channels are named.
enum Base64 {
    /// The text for some bytes.
    static func encode(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var out: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
            for digit in 0..<4 {
                let value = Int(bits >> UInt32(18 - 6 * digit) & 63)
                out.append(digit <= group.count ? alphabet[value] : UInt8(ascii: "="))
            }
        }
        return String(decoding: out, as: UTF8.self)
    }

    /// Whether a text is the base64 of one byte or more: whole groups of four, padding only at the end, and no bits
    /// left over that are not 0.
    static func isWellFormed(_ text: Bytes) -> Bool {
        guard text.count > 0, text.count % 4 == 0 else { return false }
        let padding = text.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard padding <= 2 else { return false }
        var last: UInt32 = 0
        for byte in text.keeping(text.count - padding) {
            guard let value = value(of: byte) else { return false }
            last = value
        }
        return last & ((1 << UInt32(2 * padding)) - 1) == 0
    }

    private static func value(of byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte) - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte) - 71
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte) + 4
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
