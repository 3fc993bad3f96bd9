#if arch(x86_64)
    internal import _Builtin_intrinsics.intel
#endif

/// Searching and comparing in steps of 16 bytes, for texts that are shorter than a `ByteBlock`. It is unsafe for speed: up to 15 bytes
/// after the last one are loaded, and do not matter.
enum Bytes16 {
    /// Returns the offset of the first byte at or after an offset that ends the plain part of a JSON string: `"`, `\` or one below 0x20
    /// (RFC 8259, section 7). There must be one.
    @inline(__always)
    static func special(_ bytes: UnsafePointer<UInt8>, from start: Int) -> Int {
        var at = start
        while true {
            let found = unsafe specialBits(bytes + at)
            if found != 0 { return at &+ found.trailingZeroBitCount }
            at &+= 16
        }
    }

    /// Whether the first `count` bytes of two texts are equal.
    @inline(__always)
    static func equal(_ one: UnsafePointer<UInt8>, _ other: UnsafePointer<UInt8>, count: Int) -> Bool {
        var at = 0
        while count &- at > 16 {
            if unsafe equalBits(one + at, other + at) != 0xFFFF { return false }
            at &+= 16
        }
        let rest = (1 as UInt32) &<< UInt32(truncatingIfNeeded: count &- at) &- 1
        return unsafe equalBits(one + at, other + at) & rest == rest
    }

    // Masks in which bit i stands for byte i.
    #if arch(x86_64)
        private typealias Register = SIMD2<Int64>

        @inline(__always)
        private static func load(_ bytes: UnsafePointer<UInt8>) -> Register {
            unsafe UnsafeRawPointer(bytes).loadUnaligned(as: Register.self)
        }

        @inline(__always)
        private static func all(_ byte: UInt8) -> Register {
            unsafe unsafeBitCast(SIMD16<UInt8>(repeating: byte), to: Register.self)
        }

        @inline(__always)
        private static func specialBits(_ bytes: UnsafePointer<UInt8>) -> UInt32 {
            let block = unsafe load(bytes)
            let control = _mm_cmpeq_epi8(_mm_min_epu8(block, all(0x1F)), block)
            let quotes = _mm_cmpeq_epi8(block, all(Byte.quote))
            let backslashes = _mm_cmpeq_epi8(block, all(UInt8(ascii: "\\")))
            return UInt32(bitPattern: _mm_movemask_epi8(control | quotes | backslashes))
        }

        @inline(__always)
        private static func equalBits(_ one: UnsafePointer<UInt8>, _ other: UnsafePointer<UInt8>) -> UInt32 {
            unsafe UInt32(bitPattern: _mm_movemask_epi8(_mm_cmpeq_epi8(load(one), load(other))))
        }
    #else
        @inline(__always)
        private static func bits(_ isSet: (Int) -> Bool) -> UInt32 {
            var mask: UInt32 = 0
            for index in 0..<16 { mask |= (isSet(index) ? 1 : 0) &<< UInt32(truncatingIfNeeded: index) }
            return mask
        }

        private static func specialBits(_ bytes: UnsafePointer<UInt8>) -> UInt32 {
            bits { index in
                let byte = unsafe bytes[index]
                return byte < 0x20 || byte == Byte.quote || byte == UInt8(ascii: "\\")
            }
        }

        private static func equalBits(_ one: UnsafePointer<UInt8>, _ other: UnsafePointer<UInt8>) -> UInt32 {
            bits { index in unsafe one[index] == other[index] }
        }
    #endif
}
