/// The forms of single values.
enum FieldForm {
    /// A device token: lower-case hexadecimal digits, an even count of them, at least two. Apple says to make no
    /// assumption about its size.
    static func isDeviceToken(_ text: Bytes) -> Bool {
        guard text.count > 0, text.count & 1 == 0, let start = text.baseAddress else { return false }
        var at = 0
        while text.count - at >= 8 {
            guard areLowerHexDigits(start.loadUnaligned(fromByteOffset: at, as: UInt64.self)) else { return false }
            at += 8
        }
        while at < text.count {
            guard isLowerHexDigit(text[at]) else { return false }
            at += 1
        }
        return true
    }

    /// A canonical UUID in lower case: 8-4-4-4-12 (RFC 9562, section 4).
    static func isMessageID(_ text: Bytes) -> Bool {
        guard text.count == 36 else { return false }
        for index in 0..<36 {
            switch index {
            case 8, 13, 18, 23: guard text[index] == UInt8(ascii: "-") else { return false }
            default: guard isLowerHexDigit(text[index]) else { return false }
            }
        }
        return true
    }

    /// A topic that could be one: letters, digits, `.`, `-` and `_`, at most 255 of them.
    static func isTopic(_ text: Bytes) -> Bool {
        text.count <= 255
            && text.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// Seconds since the epoch in decimal digits that fit 64 bits with a sign.
    static func isExpiration(_ text: Bytes) -> Bool {
        guard text.count > 0 else { return false }
        var value: Int64 = 0
        for byte in text {
            let digit = byte &- UInt8(ascii: "0")
            let (tens, tooLarge) = value.multipliedReportingOverflow(by: 10)
            let (sum, tooLargeNow) = tens.addingReportingOverflow(Int64(digit))
            guard digit < 10, !tooLarge, !tooLargeNow else { return false }
            value = sum
        }
        return true
    }

    /// Eight bytes at once: with no byte above 0x7F, no sum below reaches the next byte, and a byte's high bit tells
    /// whether it is at least `0` and not above `9`, or at least `a` and not above `f`.
    @inline(__always)
    private static func areLowerHexDigits(_ word: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs = ones << 7
        guard word & highs == 0 else { return false }
        let digits = (word &+ ones &* 0x50) & ~(word &+ ones &* 0x46)
        let letters = (word &+ ones &* 0x1F) & ~(word &+ ones &* 0x19)
        return (digits | letters) & highs == highs
    }

    @inline(__always)
    private static func isLowerHexDigit(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "0") < 10 || byte &- UInt8(ascii: "a") < 6
    }
}
