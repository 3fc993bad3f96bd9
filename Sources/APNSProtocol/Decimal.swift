/// Decimal digits without a string.
package enum Decimal {
    /// Writes `number` at `target` (room for 20 bytes) and gives the number of digits.
    package static func write(_ number: UInt64, to target: UnsafeMutablePointer<UInt8>) -> Int {
        var digits = 1
        var rest = number / 10
        while rest > 0 {
            digits += 1
            rest /= 10
        }
        var left = number
        for position in stride(from: digits - 1, through: 0, by: -1) {
            target[position] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: left % 10)
            left /= 10
        }
        return digits
    }

    /// The number that the digits write; nil when there are none, when there is anything else, and past 18 digits.
    package static func read(_ text: Slice<UnsafeRawBufferPointer>) -> UInt64? {
        guard 1...18 ~= text.count else { return nil }
        var value: UInt64 = 0
        for byte in text {
            let digit = byte &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            value = value * 10 + UInt64(digit)
        }
        return value
    }
}
