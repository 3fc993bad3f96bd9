/// What the rules ask of a JSON number, answered from its digits and exactly: no rounding, no allocation, any length.
struct DecimalNumber {
    private(set) var isNegative = false
    /// Digits from the first that is not 0 to the last that is not 0; none for zero.
    private var significant = 0
    /// The value is 0.d₁d₂d₃… × 10^exponent.
    private var exponent = 0
    private var firstDigit: UInt8 = 0

    /// - Parameter bytes: a number by JSON's grammar.
    init(_ bytes: UnsafePointer<UInt8>, _ count: Int) {
        var index = 0
        var place = 0
        var seenPoint = false
        if count > 0, bytes[0] == UInt8(ascii: "-") {
            isNegative = true
            index = 1
        }
        while index < count, bytes[index] | 0x20 != UInt8(ascii: "e") {
            if bytes[index] == UInt8(ascii: ".") {
                seenPoint = true
            } else {
                take(bytes[index] &- 0x30, &place, isFraction: seenPoint)
            }
            index += 1
        }
        if index < count { exponent += Self.power(bytes, from: index + 1, count) }
    }

    /// - place: digits since the first that is not 0.
    private mutating func take(_ digit: UInt8, _ place: inout Int, isFraction: Bool) {
        if place == 0, digit == 0 {
            if isFraction { exponent -= 1 }
            return
        }
        if place == 0 { firstDigit = digit }
        place += 1
        if digit != 0 { significant = place }
        if !isFraction { exponent += 1 }
    }

    /// The digits after the `e`, at most a billion or so: more makes no difference to any rule.
    private static func power(_ bytes: UnsafePointer<UInt8>, from start: Int, _ count: Int) -> Int {
        var value = 0
        var isNegative = false
        for index in start..<max(start, count) {
            if bytes[index] == UInt8(ascii: "-") { isNegative = true }
            let digit = bytes[index] &- 0x30
            if digit < 10, value < 1 << 30 { value = value * 10 + Int(digit) }
        }
        return isNegative ? -value : value
    }

    var isZero: Bool { significant == 0 }
    var isWhole: Bool { isZero || significant <= exponent }
    var isNotNegative: Bool { isZero || !isNegative }
    var isOne: Bool { !isNegative && significant == 1 && exponent == 1 && firstDigit == 1 }
    /// From 0 to 1.
    var isFraction: Bool { isZero || isOne || (!isNegative && exponent <= 0) }
    /// Digits before the point.
    var wholeDigits: Int { isZero ? 0 : max(0, exponent) }
}
