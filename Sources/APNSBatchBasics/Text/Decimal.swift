/// Decimal digits in memory, without `String`.
package enum Decimal {
    /// Writes the digits of `number` and returns how many there are. `target` must have room for 20 bytes, or for 8 if
    /// there are at most 8 digits; bytes after the digits may be overwritten.
    package static func write(_ number: UInt64, to target: UnsafeMutablePointer<UInt8>) -> Int {
        if number < 10 {
            unsafe target[0] = UInt8(ascii: "0") + UInt8(number)
            return 1
        }
        guard number < 100_000_000 else {
            let (head, tail) = number.quotientAndRemainder(dividingBy: 100_000_000)
            let written = unsafe write(head, to: target)
            unsafe UnsafeMutableRawPointer(target + written).storeBytes(of: eightDigits(tail), as: UInt64.self)
            return written + 8
        }
        // The number of digits is computed independently of the digits, so that writing what follows need not wait for
        // them.
        func reaches(_ bound: UInt64) -> Int { number >= bound ? 1 : 0 }
        let digits =
            1 + reaches(10) + reaches(100) + reaches(1000) + reaches(10_000) + reaches(100_000) + reaches(1_000_000)
            + reaches(10_000_000)
        let text = eightDigits(number).littleEndian >> UInt64(64 - 8 * digits)
        unsafe UnsafeMutableRawPointer(target).storeBytes(of: text.littleEndian, as: UInt64.self)
        return digits
    }

    /// Returns eight digits of a number below 100,000,000 in memory order, computed in parallel: pairs of four digits,
    /// then of two, then of one.
    private static func eightDigits(_ number: UInt64) -> UInt64 {
        // Four digits in each half, the leading ones in the lower half. Divisions by 100 and by 10 are multiplications.
        let fours = number / 10_000 | (number % 10_000) << 32
        let hundreds = (fours &* 10_486) >> 20 & 0x0000_007F_0000_007F
        let twos = hundreds | (fours &- hundreds &* 100) << 16
        let tens = (twos &* 103) >> 10 & 0x000F_000F_000F_000F
        let ones = tens | (twos &- tens &* 10) << 8
        return (ones | 0x3030_3030_3030_3030).littleEndian
    }

    /// Returns the number that the digits represent, or nil if there are none, more than 18, or other characters.
    package static func read(_ text: Slice<UnsafeRawBufferPointer>) -> UInt64? { unsafe value(of: text) }

    static func value(of text: some Collection<UInt8>) -> UInt64? {
        guard text.count <= 18, !text.isEmpty else { return nil }
        var value: UInt64 = 0
        for byte in text {
            let digit = byte &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            value = value * 10 + UInt64(digit)
        }
        return value
    }
}

extension UInt8 {
    /// Whether the byte is an ASCII digit.
    @inlinable @inline(__always)
    package var isDigit: Bool { self &- 0x30 < 10 }

    /// Whether the byte is an ASCII letter or digit.
    @inlinable @inline(__always)
    package var isLetterOrDigit: Bool { isDigit || (self | 0x20) &- 0x61 < 26 }
}
