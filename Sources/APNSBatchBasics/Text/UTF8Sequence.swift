extension UnsafePointer<UInt8> {
    /// Bytes of the character in UTF-8 that begins here, of which at least one is there; 0 if it is not well-formed as table
    /// 3-7 of the Unicode standard has it: no overlong forms, no surrogates, nothing above U+10FFFF.
    @inlinable @inline(__always)
    package func sequenceLength(available: Int) -> Int {
        let first = unsafe self[0]
        if first < 0x80 { return 1 }
        guard available >= 2, unsafe self[1].isContinuation else { return 0 }
        if first < 0xE0 { return first >= 0xC2 ? 2 : 0 }
        guard available >= 3, unsafe self[2].isContinuation else { return 0 }
        let scalar = unsafe UInt32(first & 0x0F) << 12 | UInt32(self[1] & 0x3F) << 6 | UInt32(self[2] & 0x3F)
        if first < 0xF0 { return scalar >= 0x800 && !(0xD800..<0xE000).contains(scalar) ? 3 : 0 }
        guard available >= 4, unsafe self[3].isContinuation, first < 0xF5 else { return 0 }
        let lead = unsafe UInt32(first & 0x07) << 6 | UInt32(self[1] & 0x3F)
        return (0x10..<0x110).contains(lead) ? 4 : 0
    }
}

extension UInt8 {
    /// Whether it continues a sequence of UTF-8.
    @inlinable @inline(__always)
    package var isContinuation: Bool { self & 0xC0 == 0x80 }
}
