/// Hexadecimal digits and the bytes they stand for.
enum HexDigits {
    /// How many bytes behind the packed ones may be touched.
    static let slack = 8

    /// Writes the bytes of lower-case digits, two to a byte. Touches up to `slack` bytes behind them.
    ///
    /// - Parameters:
    ///   - digits: an even count of them, known to be digits.
    ///   - out: room for half as many bytes, and the slack.
    @inline(__always)
    static func pack(_ digits: Bytes, to out: UnsafeMutableRawPointer) {
        guard let start = digits.baseAddress else { return }
        var at = 0
        while digits.count - at >= 8 {
            let word = start.loadUnaligned(fromByteOffset: at, as: UInt64.self).littleEndian
            // The low half of a digit is its value, of a letter (0x61 to 0x66) its value less nine.
            let values = (word & 0x0F0F_0F0F_0F0F_0F0F) &+ ((word >> 6) & 0x0101_0101_0101_0101) &* 9
            var packed = ((values << 4) | (values >> 8)) & 0x00FF_00FF_00FF_00FF
            packed = (packed | packed >> 8) & 0x0000_FFFF_0000_FFFF
            packed = packed | packed >> 16
            out.storeBytes(of: UInt32(truncatingIfNeeded: packed).littleEndian, toByteOffset: at / 2, as: UInt32.self)
            at += 8
        }
        while at < digits.count {
            let value = hexDigitValue(digits[at]) << 4 | hexDigitValue(digits[at + 1])
            out.storeBytes(of: UInt8(truncatingIfNeeded: value), toByteOffset: at / 2, as: UInt8.self)
            at += 2
        }
    }

    /// Writes the lower-case digits of `bytes`, two for each.
    static func write(_ bytes: Bytes, to out: UnsafeMutablePointer<UInt8>) {
        for (index, byte) in bytes.enumerated() {
            out[index * 2] = digit(byte >> 4)
            out[index * 2 + 1] = digit(byte & 15)
        }
    }

    @inline(__always)
    static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
