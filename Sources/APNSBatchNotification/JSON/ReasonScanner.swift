/// Just enough JSON (RFC 8259) to find members of an object that a peer sent. Every step either takes something or
/// fails; a failure leaves the position where it was or at the end.
struct ReasonScanner {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// Takes one character, after white space.
    mutating func take(_ byte: UInt8) -> Bool {
        skipSpace()
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    /// Takes a string, after white space; nil when there is none or it does not end.
    mutating func string() -> ReasonText? {
        skipSpace()
        guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else { return nil }
        let start = position + 1
        var end = start
        var isEscaped = false
        while end < bytes.count, bytes[end] != UInt8(ascii: "\"") {
            let isEscape = bytes[end] == UInt8(ascii: "\\")
            isEscaped = isEscaped || isEscape
            end += isEscape ? 2 : 1
        }
        guard end < bytes.count else { return nil }
        position = end + 1
        return ReasonText(bytes: UnsafeRawBufferPointer(rebasing: bytes[start..<end]), isEscaped: isEscaped)
    }

    /// Takes a number that is not negative, also one in quotes; its fraction is dropped. nil, with the number left
    /// where it is, when it does not fit 63 bits or is written with an exponent.
    mutating func integer() -> Int64? {
        let before = position
        let isQuoted = take(UInt8(ascii: "\""))
        skipSpace()
        var value: Int64 = 0
        var digits = 0
        while position < bytes.count, case let digit = bytes[position] &- UInt8(ascii: "0"), digit < 10 {
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(Int64(digit))
            if overflow || carry { return fail(before) }
            value = sum
            digits += 1
            position += 1
        }
        if digits > 0, position < bytes.count, bytes[position] == UInt8(ascii: ".") { skipFraction() }
        let hasExponent = position < bytes.count && bytes[position] | 0x20 == UInt8(ascii: "e")
        if digits == 0 || hasExponent || (isQuoted && !take(UInt8(ascii: "\""))) { return fail(before) }
        return value
    }

    /// Takes any value: nested ones with all they hold, however deep, without recursion.
    mutating func skipValue() -> Bool {
        var depth = 0
        repeat {
            skipSpace()
            guard position < bytes.count else { return false }
            switch bytes[position] {
            case UInt8(ascii: "\""):
                guard string() != nil else { return false }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                position += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard depth > 0 else { return false }
                depth -= 1
                position += 1
            case UInt8(ascii: ","), UInt8(ascii: ":"):
                guard depth > 0 else { return false }
                position += 1
            default:
                skipWord()
            }
        } while depth > 0
        return true
    }

    private mutating func skipSpace() {
        while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
    }

    /// A number, true, false, null, or what else is no punctuation.
    private mutating func skipWord() {
        position += 1
        while position < bytes.count, !Self.endsWord(bytes[position]) { position += 1 }
    }

    private mutating func skipFraction() {
        position += 1
        while position < bytes.count, bytes[position] &- UInt8(ascii: "0") < 10 { position += 1 }
    }

    private mutating func fail(_ position: Int) -> Int64? {
        self.position = position
        return nil
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09
    }

    private static func endsWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: "\""): true
        default: isSpace(byte)
        }
    }
}
