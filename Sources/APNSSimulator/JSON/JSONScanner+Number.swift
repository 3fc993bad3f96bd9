extension JSONValue {
    /// Whether a number is not below 0 and not above 1. By its digits where it has no exponent.
    var isWithinUnit: Bool {
        let digits = text.bytes
        guard let first = digits.first else { return false }
        if digits.contains(where: { $0 | 0x20 == UInt8(ascii: "e") }) || first == UInt8(ascii: "-") {
            return Double(String(decoding: digits, as: UTF8.self)).map { $0 >= 0 && $0 <= 1 } ?? false
        }
        guard digits.count == 1 || digits[1] == UInt8(ascii: ".") else { return false }
        if first == UInt8(ascii: "0") { return true }
        return first == UInt8(ascii: "1") && digits.dropFirst(2).allSatisfy { $0 == UInt8(ascii: "0") }
    }
}

extension JSONScanner {
    /// Checks a number (RFC 8259, section 6) and moves behind it: no plus sign, no leading zero, digits on both sides
    /// of the point.
    mutating func number() -> Bool {
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) {
            guard digits() else { return false }
        }
        if take(UInt8(ascii: ".")) {
            guard digits() else { return false }
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) {
                _ = take(UInt8(ascii: "-"))
            }
            guard digits() else { return false }
        }
        return true
    }

    /// One digit or more.
    @inline(__always)
    private mutating func digits() -> Bool {
        let start = at
        while at < end, at.pointee &- UInt8(ascii: "0") <= 9 {
            at += 1
        }
        return at > start
    }
}
