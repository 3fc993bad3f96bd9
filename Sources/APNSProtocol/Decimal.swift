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
}
