/// One character in well-formed UTF-8 as table 3-7 of the Unicode standard has it: no overlong forms, no surrogates, nothing
/// above U+10FFFF.
package enum UTF8Sequence {
    /// Bytes of the sequence that begins at `bytes`, of which at least one is there; 0 if it is not well-formed.
    @inlinable @inline(__always)
    package static func length(_ bytes: UnsafePointer<UInt8>, available: Int) -> Int {
        let first = unsafe bytes[0]
        if first < 0x80 { return 1 }
        guard available >= 2, unsafe isContinuation(bytes[1]) else { return 0 }
        if first < 0xE0 { return first >= 0xC2 ? 2 : 0 }
        guard available >= 3, unsafe isContinuation(bytes[2]) else { return 0 }
        let scalar = unsafe UInt32(first & 0x0F) << 12 | UInt32(bytes[1] & 0x3F) << 6 | UInt32(bytes[2] & 0x3F)
        if first < 0xF0 { return scalar >= 0x800 && !(0xD800..<0xE000).contains(scalar) ? 3 : 0 }
        guard available >= 4, unsafe isContinuation(bytes[3]), first < 0xF5 else { return 0 }
        let lead = unsafe UInt32(first & 0x07) << 6 | UInt32(bytes[1] & 0x3F)
        return (0x10..<0x110).contains(lead) ? 4 : 0
    }

    @inlinable @inline(__always)
    package static func isContinuation(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }
}
