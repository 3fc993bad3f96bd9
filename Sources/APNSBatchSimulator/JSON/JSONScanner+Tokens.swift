import APNSBatchBasics

extension JSONScanner {
    /// Checks the string that begins at the next byte and moves past its closing quotation mark.
    ///
    /// It checks eight bytes at a time as long as they are ASCII without control characters, quotation marks and
    /// backslashes.
    mutating func string() -> JSONText {
        guard take(UInt8(ascii: "\"")) else { return .invalid }
        let start = unsafe at
        var isEscaped = false
        while true {
            skipPlain()
            guard unsafe at < end else { return .invalid }
            switch unsafe at.pointee {
            case UInt8(ascii: "\""):
                unsafe at += 1
                return unsafe JSONText(start: start, end: at - 1, isEscaped: isEscaped)
            case UInt8(ascii: "\\"):
                isEscaped = true
                guard escape() else { return .invalid }
            case 0x80...:
                guard character() else { return .invalid }
            case ..<0x20: return .invalid
            default: unsafe at += 1
            }
        }
    }

    /// Moves to the next byte that must be checked, or to less than eight bytes before the end.
    @inline(__always)
    private mutating func skipPlain() {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        while unsafe end - at >= 8 {
            let word = unsafe UnsafeRawPointer(at).loadUnaligned(as: UInt64.self).littleEndian
            let quote = word ^ (ones &* 0x22)
            let backslash = word ^ (ones &* 0x5C)
            // The high bit of a byte is set if the byte is below the subtracted number, or is 0x80 or above. A borrow
            // only affects bytes after a correctly marked one, so the first mark is always correct.
            let special = ((word &- ones &* 0x20) | (quote &- ones) | (backslash &- ones) | word) & highs
            if special != 0 {
                unsafe at += special.trailingZeroBitCount >> 3
                return
            }
            unsafe at += 8
        }
    }

    /// Checks an escape, which is `\` and one of `"\/bfnrt`, or `u` and four hex digits. Surrogates are only valid in
    /// pairs.
    private mutating func escape() -> Bool {
        guard unsafe end - at >= 2 else { return false }
        switch unsafe at[1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            unsafe at += 2
            return true
        case UInt8(ascii: "u"): break
        default: return false
        }
        let unit = unsafe codeUnit(at)
        switch unit {
        case -1, 0xDC00...0xDFFF: return false
        case 0xD800...0xDBFF:
            guard unsafe (0xDC00...0xDFFF).contains(codeUnit(at + 6)) else { return false }
            unsafe at += 12
        default: unsafe at += 6
        }
        return true
    }

    /// Returns the UTF-16 unit of a `\uXXXX` at a position at or before the end, or -1.
    private func codeUnit(_ place: UnsafePointer<UInt8>) -> Int32 {
        guard unsafe end - place >= 6, unsafe place[0] == UInt8(ascii: "\\"), unsafe place[1] == UInt8(ascii: "u")
        else { return -1 }
        var unit: Int32 = 0
        for index in 2..<6 {
            let digit = unsafe hexDigitValue(place[index])
            guard digit >= 0 else { return -1 }
            unit = unit << 4 | digit
        }
        return unit
    }

    private mutating func character() -> Bool {
        let length = unsafe at.sequenceLength(available: end - at)
        unsafe at += length
        return length > 0
    }
}

/// Returns the value of a hexadecimal digit of either case, or -1.
@inline(__always)
func hexDigitValue(_ byte: UInt8) -> Int32 {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): Int32(byte) - 0x30
    case UInt8(ascii: "a")...UInt8(ascii: "f"): Int32(byte) - 0x57
    case UInt8(ascii: "A")...UInt8(ascii: "F"): Int32(byte) - 0x37
    default: -1
    }
}

extension JSONValue {
    /// Whether a number is between 0 and 1, decided by its digits if it has no exponent.
    var isWithinUnit: Bool {
        let digits = unsafe text.bytes
        guard let first = unsafe digits.first else { return false }
        if unsafe digits.contains(where: { $0 | 0x20 == UInt8(ascii: "e") }) || first == UInt8(ascii: "-") {
            return unsafe Double(String(decoding: digits, as: UTF8.self)).map { $0 >= 0 && $0 <= 1 } ?? false
        }
        guard unsafe digits.count == 1 || digits[1] == UInt8(ascii: ".") else { return false }
        if first == UInt8(ascii: "0") { return true }
        return unsafe first == UInt8(ascii: "1") && digits.dropFirst(2).allSatisfy { $0 == UInt8(ascii: "0") }
    }
}

extension JSONScanner {
    /// Checks a number (RFC 8259, section 6) and moves to the byte after it. A plus sign and leading zeros are not
    /// valid, and a decimal point needs digits on both sides.
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

    /// Moves past one or more digits. Returns false if there are none.
    @inline(__always)
    private mutating func digits() -> Bool {
        let start = unsafe at
        while unsafe at < end, unsafe at.pointee &- UInt8(ascii: "0") <= 9 {
            unsafe at += 1
        }
        return unsafe at > start
    }
}

/// A part of a JSON text, which is the content of a string as it is written, or the bytes of another value.
@safe struct JSONText {
    var start: UnsafePointer<UInt8>?
    var end: UnsafePointer<UInt8>?
    /// Whether it contains a backslash.
    var isEscaped: Bool

    static var invalid: JSONText { unsafe JSONText(start: nil, end: nil) }

    @inline(__always)
    init(start: UnsafePointer<UInt8>?, end: UnsafePointer<UInt8>?, isEscaped: Bool = false) {
        unsafe self.start = unsafe start
        unsafe self.end = unsafe end
        self.isEscaped = isEscaped
    }

    @inline(__always) var isValid: Bool { unsafe start != nil }

    /// The bytes as they are written.
    @inline(__always)
    var bytes: Bytes {
        guard let start = unsafe start, let end = unsafe end else { return unsafe Bytes(start: nil, count: 0) }
        return unsafe Bytes(start: start, count: end - start)
    }

    /// Returns whether the string is `text`, which is ASCII. Escaped characters are decoded.
    @inline(__always)
    func equals(_ text: StaticString) -> Bool {
        unsafe isEscaped ? equalsUnescaped(text) : bytes.equals(text)
    }

    @inline(never)
    private func equalsUnescaped(_ text: StaticString) -> Bool {
        guard var at = unsafe start, let end = unsafe end else { return false }
        for index in 0..<text.utf8CodeUnitCount {
            guard unsafe at < end, let (unit, length) = unsafe Self.asciiUnit(at, end),
                unsafe unit == text.utf8Start[index]
            else {
                return false
            }
            unsafe at += length
        }
        return unsafe at == end
    }

    /// Returns the ASCII character at a position in a valid string, and the number of bytes with which it is written.
    /// Returns nil for any other character.
    private static func asciiUnit(_ at: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> (UInt8, Int)? {
        guard unsafe at.pointee == UInt8(ascii: "\\") else { return unsafe at.pointee < 0x80 ? (at.pointee, 1) : nil }
        switch unsafe at[1] {
        case UInt8(ascii: "b"): return (0x08, 2)
        case UInt8(ascii: "f"): return (0x0C, 2)
        case UInt8(ascii: "n"): return (0x0A, 2)
        case UInt8(ascii: "r"): return (0x0D, 2)
        case UInt8(ascii: "t"): return (0x09, 2)
        case UInt8(ascii: "u"):
            guard unsafe at[2] == UInt8(ascii: "0"), unsafe at[3] == UInt8(ascii: "0") else { return nil }
            let value = unsafe hexDigitValue(at[4]) << 4 | hexDigitValue(at[5])
            return value < 0x80 ? (UInt8(value), 6) : nil
        default: return unsafe (at[1], 2)
        }
    }
}
