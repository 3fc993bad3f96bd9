extension UnsafePointer<UInt8> {
    /// Returns the length in bytes of the UTF-8 sequence that begins here, or 0 if it is not well-formed (table 3-7 of
    /// the Unicode standard). Overlong forms, surrogates and values above U+10FFFF are not well-formed.
    ///
    /// - Parameter available: The number of readable bytes, at least 1.
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
    /// Whether the byte is a continuation byte of UTF-8.
    @inlinable @inline(__always)
    package var isContinuation: Bool { self & 0xC0 == 0x80 }
}
