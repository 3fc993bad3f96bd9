extension JSONScanner {
    /// Checks the string whose opening quotation mark comes next and moves behind its closing one.
    ///
    /// Eight bytes at a time as long as they are ASCII without control characters, quotation marks and backslashes.
    mutating func string() -> JSONText {
        guard take(UInt8(ascii: "\"")) else { return .invalid }
        let start = at
        var isEscaped = false
        while true {
            skipPlain()
            guard at < end else { return .invalid }
            switch at.pointee {
            case UInt8(ascii: "\""):
                at += 1
                return JSONText(start: start, end: at - 1, isEscaped: isEscaped)
            case UInt8(ascii: "\\"):
                isEscaped = true
                guard escape() else { return .invalid }
            case 0x80...:
                guard character() else { return .invalid }
            case ..<0x20: return .invalid
            default: at += 1
            }
        }
    }

    /// Moves to the next byte that needs a look, or to within a word of the end.
    @inline(__always)
    private mutating func skipPlain() {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        while end - at >= 8 {
            let word = UnsafeRawPointer(at).loadUnaligned(as: UInt64.self).littleEndian
            let quote = word ^ (ones &* 0x22)
            let backslash = word ^ (ones &* 0x5C)
            // A byte's high bit is set where the byte is below the number subtracted, or is 0x80 and above. A borrow
            // only reaches bytes behind one that is marked rightly, so the first mark is always right.
            let special = ((word &- ones &* 0x20) | (quote &- ones) | (backslash &- ones) | word) & highs
            if special != 0 {
                at += special.trailingZeroBitCount >> 3
                return
            }
            at += 8
        }
    }

    /// `\` and what follows: one of `"\/bfnrt`, or `u` and four hex digits, a high surrogate only before a low one.
    private mutating func escape() -> Bool {
        guard end - at >= 2 else { return false }
        switch at[1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            at += 2
            return true
        case UInt8(ascii: "u"): break
        default: return false
        }
        let unit = codeUnit(at)
        switch unit {
        case -1, 0xDC00...0xDFFF: return false
        case 0xD800...0xDBFF:
            guard (0xDC00...0xDFFF).contains(codeUnit(at + 6)) else { return false }
            at += 12
        default: at += 6
        }
        return true
    }

    /// The UTF-16 unit of a `\uXXXX` at a place at or before the end, or -1.
    private func codeUnit(_ place: UnsafePointer<UInt8>) -> Int32 {
        guard end - place >= 6, place[0] == UInt8(ascii: "\\"), place[1] == UInt8(ascii: "u") else { return -1 }
        var unit: Int32 = 0
        for index in 2..<6 {
            let digit = hexDigitValue(place[index])
            guard digit >= 0 else { return -1 }
            unit = unit << 4 | digit
        }
        return unit
    }

    /// One character of two to four bytes, well-formed as in Unicode's table 3-7 (RFC 3629, section 4).
    private mutating func character() -> Bool {
        let lead = at.pointee
        let left = end - at
        switch lead {
        case 0xC2...0xDF:
            guard left >= 2, isTail(at[1]) else { return false }
            at += 2
        case 0xE0...0xEF:
            let second: ClosedRange<UInt8> = lead == 0xE0 ? 0xA0...0xBF : lead == 0xED ? 0x80...0x9F : 0x80...0xBF
            guard left >= 3, second.contains(at[1]), isTail(at[2]) else { return false }
            at += 3
        case 0xF0...0xF4:
            let second: ClosedRange<UInt8> = lead == 0xF0 ? 0x90...0xBF : lead == 0xF4 ? 0x80...0x8F : 0x80...0xBF
            guard left >= 4, second.contains(at[1]), isTail(at[2]), isTail(at[3]) else { return false }
            at += 4
        default: return false
        }
        return true
    }

    @inline(__always)
    private func isTail(_ byte: UInt8) -> Bool {
        byte & 0xC0 == 0x80
    }
}

/// The value of a hexadecimal digit of either case, or -1.
@inline(__always)
func hexDigitValue(_ byte: UInt8) -> Int32 {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): Int32(byte) - 0x30
    case UInt8(ascii: "a")...UInt8(ascii: "f"): Int32(byte) - 0x57
    case UInt8(ascii: "A")...UInt8(ascii: "F"): Int32(byte) - 0x37
    default: -1
    }
}
