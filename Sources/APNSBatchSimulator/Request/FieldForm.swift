import APNSBatchBasics

/// The syntax of values of header fields.
enum FieldForm {
    /// Returns whether the text is a device token, which is an even number of lower-case hexadecimal digits, at least
    /// two. Apple says that its size may change.
    static func isDeviceToken(_ text: Bytes) -> Bool {
        unsafe Hex.isDigits(text)
    }

    /// Returns whether the text is a canonical UUID in lower case, 8-4-4-4-12 (RFC 9562, section 4).
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

    /// Returns whether the text can be a topic, which is at most 255 letters, digits, `.`, `-` and `_`.
    static func isTopic(_ text: Bytes) -> Bool {
        unsafe text.count <= 255
            && text.allSatisfy { $0.isLetterOrDigit || ".-_".utf8.contains($0) }
    }

    /// Returns whether the text is a number of seconds since the epoch in decimal digits that fits a signed 64-bit
    /// integer.
    static func isExpiration(_ text: Bytes) -> Bool {
        unsafe text.allSatisfy(\.isDigit) && Int64(String(decoding: text, as: UTF8.self)) != nil
    }

    @inline(__always)
    private static func isLowerHexDigit(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "0") < 10 || byte &- UInt8(ascii: "a") < 6
    }
}
