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
