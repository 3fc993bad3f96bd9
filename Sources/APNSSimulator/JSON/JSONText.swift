/// A part of a JSON text: a string's content as it is written, or the bytes of another value.
struct JSONText {
    var start: UnsafePointer<UInt8>?
    var end: UnsafePointer<UInt8>?
    /// Whether a backslash occurs.
    var isEscaped: Bool

    static var invalid: JSONText { JSONText(start: nil, end: nil) }

    @inline(__always)
    init(start: UnsafePointer<UInt8>?, end: UnsafePointer<UInt8>?, isEscaped: Bool = false) {
        self.start = start
        self.end = end
        self.isEscaped = isEscaped
    }

    @inline(__always) var isValid: Bool { start != nil }

    /// The bytes as they are written.
    @inline(__always)
    var bytes: Bytes {
        guard let start, let end else { return Bytes(start: nil, count: 0) }
        return Bytes(start: start, count: end - start)
    }

    /// Whether the string is `text`, which is ASCII; an escaped character counts as what it stands for.
    @inline(__always)
    func equals(_ text: StaticString) -> Bool {
        isEscaped ? equalsUnescaped(text) : bytes.equals(text)
    }

    @inline(never)
    private func equalsUnescaped(_ text: StaticString) -> Bool {
        guard var at = start, let end else { return false }
        for index in 0..<text.utf8CodeUnitCount {
            guard at < end, let (unit, length) = Self.asciiUnit(at, end), unit == text.utf8Start[index] else {
                return false
            }
            at += length
        }
        return at == end
    }

    /// The ASCII character at a place in a string that was found valid, and how many bytes it is written with; nil for
    /// any other character.
    private static func asciiUnit(_ at: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> (UInt8, Int)? {
        guard at.pointee == UInt8(ascii: "\\") else { return at.pointee < 0x80 ? (at.pointee, 1) : nil }
        switch at[1] {
        case UInt8(ascii: "b"): return (0x08, 2)
        case UInt8(ascii: "f"): return (0x0C, 2)
        case UInt8(ascii: "n"): return (0x0A, 2)
        case UInt8(ascii: "r"): return (0x0D, 2)
        case UInt8(ascii: "t"): return (0x09, 2)
        case UInt8(ascii: "u"):
            guard at[2] == UInt8(ascii: "0"), at[3] == UInt8(ascii: "0") else { return nil }
            let value = hexDigitValue(at[4]) << 4 | hexDigitValue(at[5])
            return value < 0x80 ? (UInt8(value), 6) : nil
        default: return (at[1], 2)
        }
    }
}
