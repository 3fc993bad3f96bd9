/// What is wrong with the value of a key.
enum KeyFault: UInt8 {
    case type
    case range
    /// A time that may be in milliseconds.
    case milliseconds
    /// `true` where 1 is asked for, as one large provider documents it.
    case trueForOne

    var rule: Rule {
        switch self {
        case .type: .keyType
        case .range, .milliseconds: .keyRange
        case .trueForOne: .mutableContentTrue
        }
    }
}

/// Holds a value against the form that its key asks for; the elements of arrays are the scan's affair.
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
            value.kind == .number ? number(value.start, value.count, form, isLiveActivity) : .type
        case .zeroOneOrTrue:
            value.kind == .isTrue
                ? .trueForOne : value.kind == .number ? number(value.start, value.count, form, isLiveActivity) : .type
        case .isTrue: value.kind == .isTrue ? nil : value.kind == .isFalse ? .range : .type
        case .interruptionLevel, .event:
            value.kind != .string ? .type : isChoice(value.start, value.count, form) ? nil : .range
        }
    }

    /// - Parameter bytes: a number by JSON's grammar.
    @inline(__always)
    static func number(
        _ bytes: UnsafePointer<UInt8>, _ count: Int, _ form: PayloadKeyForm, _ isLiveActivity: Bool
    ) -> KeyFault? {
        // The common ones first: a digit is right wherever a number is, but for those that must be one.
        if count == 1 { return bytes[0] <= UInt8(ascii: "1") ? oneDigit(bytes[0], form) : digit(form, isLiveActivity) }
        return anyNumber(bytes, count, form, isLiveActivity)
    }

    @inline(__always)
    private static func oneDigit(_ digit: UInt8, _ form: PayloadKeyForm) -> KeyFault? {
        switch form {
        case .one: digit == UInt8(ascii: "0") ? .range : nil
        default: nil
        }
    }

    /// 2 to 9.
    @inline(__always)
    private static func digit(_ form: PayloadKeyForm, _ isLiveActivity: Bool) -> KeyFault? {
        switch form {
        case .count, .seconds: nil
        case .score: isLiveActivity ? nil : .range
        default: .range
        }
    }

    private static func anyNumber(
        _ bytes: UnsafePointer<UInt8>, _ count: Int, _ form: PayloadKeyForm, _ isLiveActivity: Bool
    ) -> KeyFault? {
        if isPlain(bytes, count, form) { return nil }
        let number = DecimalNumber(bytes, count)
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

    /// Whether it is a whole number as most are written: a few digits.
    @inline(__always)
    private static func isPlain(_ bytes: UnsafePointer<UInt8>, _ count: Int, _ form: PayloadKeyForm) -> Bool {
        switch form {
        case .count, .seconds: break
        default: return false
        }
        if count > 11 { return false }
        for index in 0..<count where !CardNumber.isDigit(bytes[index]) { return false }
        return true
    }

    /// Whether a string is one of the few that its key allows. None of them needs an escape.
    static func isChoice(_ bytes: UnsafePointer<UInt8>, _ count: Int, _ form: PayloadKeyForm) -> Bool {
        func equals(_ text: StaticString) -> Bool {
            guard text.utf8CodeUnitCount == count else { return false }
            for index in 0..<count where bytes[index] != text.utf8Start[index] { return false }
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
