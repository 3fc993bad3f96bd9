import APNSBatchBasics

/// The forms of single values.
enum FieldForm {
    /// A device token: lower-case hexadecimal digits, an even count of them, at least two. Apple says to make no
    /// assumption about its size.
    static func isDeviceToken(_ text: Bytes) -> Bool {
        unsafe Hex.isDigits(text)
    }

    /// A canonical UUID in lower case: 8-4-4-4-12 (RFC 9562, section 4).
    static func isMessageID(_ text: Bytes) -> Bool {
        guard text.count == 36 else { return false }
        for index in 0..<36 {
            switch index {
            case 8, 13, 18, 23: guard unsafe text[index] == UInt8(ascii: "-") else { return false }
            default: guard unsafe isLowerHexDigit(text[index]) else { return false }
            }
        }
        return true
    }

    /// A topic that could be one: letters, digits, `.`, `-` and `_`, at most 255 of them.
    static func isTopic(_ text: Bytes) -> Bool {
        unsafe text.count <= 255
            && text.allSatisfy { $0.isLetterOrDigit || ".-_".utf8.contains($0) }
    }

    /// Seconds since the epoch in decimal digits that fit 64 bits with a sign.
    static func isExpiration(_ text: Bytes) -> Bool {
        unsafe text.allSatisfy(\.isDigit) && Int64(String(decoding: text, as: UTF8.self)) != nil
    }

    @inline(__always)
    private static func isLowerHexDigit(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "0") < 10 || byte &- UInt8(ascii: "a") < 6
    }
}
