/// Well-formed UTF-8 as table 3-7 of the Unicode standard has it: no overlong forms, no surrogates, nothing above
/// U+10FFFF.
enum UTF8Check {
    /// The offset of the first byte that breaks well-formedness, nil if there is none.
    static func firstFault(in bytes: UnsafePointer<UInt8>, count: Int) -> Int? {
        var index = 0
        while index < count {
            if index &+ 8 <= count, (bytes + index).word(as: UInt64.self) & 0x8080_8080_8080_8080 == 0 {
                index &+= 8
                continue
            }
            while index &+ 4 <= count, isThreeBytes((bytes + index).word()) { index &+= 3 }
            if index == count { return nil }
            let length = sequenceLength(bytes + index, available: count &- index)
            if length == 0 { return index }
            index &+= length
        }
        return nil
    }

    /// Whether four bytes begin with a well-formed sequence of three: neither overlong nor a surrogate. Most scripts
    /// that are not Latin consist of these.
    @inline(__always)
    private static func isThreeBytes(_ word: UInt32) -> Bool {
        let word = UInt32(littleEndian: word)
        let discriminant = word & 0x200F
        return word & 0xC0_C0F0 == 0x80_80E0 && discriminant != 0 && discriminant != 0x200D
    }

    /// Bytes of the sequence that begins here, 0 if it is not well-formed.
    @inline(__always)
    private static func sequenceLength(_ bytes: UnsafePointer<UInt8>, available: Int) -> Int {
        let first = bytes[0]
        if first < 0x80 { return 1 }
        guard available >= 2, isContinuation(bytes[1]) else { return 0 }
        if first < 0xE0 { return first >= 0xC2 ? 2 : 0 }
        guard available >= 3, isContinuation(bytes[2]) else { return 0 }
        let scalar = UInt32(first & 0x0F) << 12 | UInt32(bytes[1] & 0x3F) << 6 | UInt32(bytes[2] & 0x3F)
        if first < 0xF0 { return scalar >= 0x800 && !(0xD800..<0xE000).contains(scalar) ? 3 : 0 }
        guard available >= 4, isContinuation(bytes[3]), first < 0xF5 else { return 0 }
        let lead = UInt32(first & 0x07) << 6 | UInt32(bytes[1] & 0x3F)
        return (0x10..<0x110).contains(lead) ? 4 : 0
    }

    @inline(__always)
    private static func isContinuation(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }
}
