/// The fault of a key's value.
enum KeyFault: UInt8 {
    case type
    case range
    /// A time that may be in milliseconds.
    case milliseconds
    /// `true` where 1 is required. One large provider documents it that way.
    case trueForOne

    var rule: Rule {
        switch self {
        case .type: .keyType
        case .range, .milliseconds: .keyRange
        case .trueForOne: .mutableContentTrue
        }
    }
}

/// Checks a value against the form that its key requires. Elements of arrays are checked by the scan.
enum KeyJudge {
    @inline(__always)
    static func fault(_ value: PayloadValue, _ form: PayloadKeyForm, isLiveActivity: Bool) -> KeyFault? {
        switch form {
        case .text: value.kind == .string ? nil : .type
        case .textOrNull: value.kind == .string || value.kind == .null ? nil : .type
        case .texts: value.kind == .array ? nil : .type
        case .textsOrNull: value.kind == .array || value.kind == .null ? nil : .type
        case .title: value.kind == .string || (isLiveActivity && value.kind == .object) ? nil : .type
        case .textOrObject: value.kind == .string || value.kind == .object ? nil : .type
        case .object: value.kind == .object ? nil : .type
        case .count, .fraction, .score, .seconds, .one, .zeroOrOne:
            unsafe value.kind == .number ? number(value.bytes, form, isLiveActivity) : .type
        case .zeroOneOrTrue:
            unsafe value.kind == .isTrue
                ? .trueForOne : value.kind == .number ? number(value.bytes, form, isLiveActivity) : .type
        case .isTrue: value.kind == .isTrue ? nil : value.kind == .isFalse ? .range : .type
        case .interruptionLevel, .event:
            unsafe value.kind != .string ? .type : isChoice(value.bytes, form) ? nil : .range
        }
    }

    /// - Parameter bytes: a valid JSON number.
    @inline(__always)
    static func number(
        _ bytes: UnsafeRawBufferPointer, _ form: PayloadKeyForm, _ isLiveActivity: Bool
    ) -> KeyFault? {
        // The common numbers first: 0 and 1 are right wherever a number is, except for 0 where 1 is required.
        unsafe bytes.count == 1 ? digit(bytes[0], form, isLiveActivity) : anyNumber(bytes, form, isLiveActivity)
    }

    @inline(__always)
    private static func digit(_ digit: UInt8, _ form: PayloadKeyForm, _ isLiveActivity: Bool) -> KeyFault? {
        switch form {
        case .count, .seconds: nil
        case .score where isLiveActivity: nil
        case .one: digit == UInt8(ascii: "1") ? nil : .range
        default: digit <= UInt8(ascii: "1") ? nil : .range
        }
    }

    private static func anyNumber(
        _ bytes: UnsafeRawBufferPointer, _ form: PayloadKeyForm, _ isLiveActivity: Bool
    ) -> KeyFault? {
        if unsafe isPlain(bytes, form) { return nil }
        let number = unsafe DecimalNumber(bytes)
        switch form {
        case .count: return number.isWhole && number.isNotNegative ? nil : .range
        case .fraction: return number.isFraction ? nil : .range
        case .score: return isLiveActivity || number.isFraction ? nil : .range
        case .seconds:
            if number.wholeDigits > 11 { return .milliseconds }
            return number.isWhole && number.isNotNegative ? nil : .range
        case .one: return number.isOne ? nil : .range
        case .zeroOrOne, .zeroOneOrTrue: return number.isOne || number.isZero ? nil : .range
        default: return nil
        }
    }

    /// Whether it is a whole number of a few digits, the most common form.
    @inline(__always)
    private static func isPlain(_ bytes: UnsafeRawBufferPointer, _ form: PayloadKeyForm) -> Bool {
        guard form == .count || form == .seconds else { return false }
        return unsafe bytes.count <= 11 && bytes.allSatisfy(\.isDigit)
    }

    /// Whether a string is one of the choices that its key allows. None of them needs an escape.
    static func isChoice(_ bytes: UnsafeRawBufferPointer, _ form: PayloadKeyForm) -> Bool {
        func equals(_ text: StaticString) -> Bool {
            guard text.utf8CodeUnitCount == bytes.count else { return false }
            for index in bytes.indices where unsafe bytes[index] != text.utf8Start[index] { return false }
            return true
        }
        switch form {
        case .interruptionLevel:
            return equals("active") || equals("passive") || equals("time-sensitive") || equals("critical")
        case .event: return equals("update") || equals("end") || equals("start")
        default: return true
        }
    }
}

/// Properties of a JSON number, computed exactly from its digits: without rounding or allocation, for any length.
struct DecimalNumber {
    private(set) var isNegative = false
    /// The number of digits from the first to the last one that is not 0; 0 for zero.
    private var significant = 0
    /// The value is 0.d₁d₂d₃… × 10^exponent.
    private var exponent = 0
    private var firstDigit: UInt8 = 0

    /// - Parameter bytes: a valid JSON number.
    init(_ bytes: UnsafeRawBufferPointer) {
        var index = 0
        var place = 0
        var seenPoint = false
        if unsafe bytes.first == UInt8(ascii: "-") {
            isNegative = true
            index = 1
        }
        while index < bytes.count, unsafe bytes[index] | 0x20 != UInt8(ascii: "e") {
            if unsafe bytes[index] == UInt8(ascii: ".") {
                seenPoint = true
            } else {
                unsafe take(bytes[index] &- 0x30, &place, isFraction: seenPoint)
            }
            index += 1
        }
        unsafe exponent += Self.power(bytes.dropFirst(index + 1))
    }

    /// - Parameter place: the number of digits from the first one that is not 0.
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

    /// Returns the exponent after the `e`, limited to about a billion; greater values make no difference to any rule.
    private static func power(_ bytes: some Sequence<UInt8>) -> Int {
        var value = 0
        var isNegative = false
        for byte in bytes {
            if byte == UInt8(ascii: "-") { isNegative = true }
            let digit = byte &- 0x30
            if digit < 10, value < 1 << 30 { value = value * 10 + Int(digit) }
        }
        return isNegative ? -value : value
    }

    var isZero: Bool { significant == 0 }
    var isWhole: Bool { isZero || significant <= exponent }
    var isNotNegative: Bool { isZero || !isNegative }
    var isOne: Bool { !isNegative && significant == 1 && exponent == 1 && firstDigit == 1 }
    /// Whether it is from 0 to 1.
    var isFraction: Bool { isZero || isOne || (!isNegative && exponent <= 0) }
    /// The number of digits before the decimal point.
    var wholeDigits: Int { isZero ? 0 : max(0, exponent) }
}
