/// Lower-case hexadecimal digits as the bytes that they mean: how tokens stand in the ledger.
enum HexPacking {
    /// Packs a text of an even number of lower-case digits into half as many bytes; false for any other text, and then
    /// `out` holds anything. `out`: room for half the text, rounded up to eight bytes.
    static func pack(_ text: UnsafeRawBufferPointer, to out: UnsafeMutableRawPointer) -> Bool {
        guard text.count > 0, text.count % 2 == 0, let base = text.baseAddress else { return false }
        var good = SIMD16<UInt8>(repeating: 0x80)
        var at = 0
        while at &+ 16 <= text.count {
            good &= packBlock(base.loadUnaligned(fromByteOffset: at, as: SIMD16<UInt8>.self), out + at / 2)
            at &+= 16
        }
        if at < text.count {
            var last = SIMD16<UInt8>(repeating: 0x30)
            withUnsafeMutableBytes(of: &last) {
                $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: text[at...]))
            }
            good &= packBlock(last, out + at / 2)
        }
        let halves = unsafeBitCast(good, to: SIMD2<UInt64>.self)
        return halves[0] & halves[1] == 0x8080_8080_8080_8080
    }

    /// Writes 16 digits as eight bytes; bit 7 of a byte of the result says whether there was a digit.
    @inline(__always)
    private static func packBlock(_ digits: SIMD16<UInt8>, _ out: UnsafeMutableRawPointer) -> SIMD16<UInt8> {
        // Bit 7 of each byte: whether it is at least the bound. For bytes of seven bits.
        func atLeast(_ bound: UInt8, _ bytes: SIMD16<UInt8>) -> SIMD16<UInt8> {
            bytes &+ SIMD16(repeating: 0x80 - bound)
        }
        let sevenBits = digits & SIMD16(repeating: 0x7F)
        let isDigit = atLeast(0x30, sevenBits) & ~atLeast(0x3A, sevenBits)
        let isLetter = atLeast(0x61, sevenBits) & ~atLeast(0x67, sevenBits)
        // Bit 6 is set in letters only: they are nine more than their low half.
        let letters = (digits &>> 6) & SIMD16(repeating: 1)
        let nibbles = (digits & SIMD16(repeating: 0x0F)) &+ letters &+ (letters &<< 3)
        // The first digit of each pair is the high one.
        let pairs = unsafeBitCast(nibbles, to: SIMD8<UInt16>.self)
        let bytes = unsafeBitCast((pairs &<< 4) | (pairs &>> 8), to: SIMD2<UInt64>.self)
        let packed = narrow(bytes[0]) | narrow(bytes[1]) << 32
        out.storeBytes(of: packed.littleEndian, as: UInt64.self)
        return (isDigit | isLetter) & ~digits
    }

    /// The low bytes of four pairs.
    @inline(__always)
    private static func narrow(_ pairs: UInt64) -> UInt64 {
        var word = pairs & 0x00FF_00FF_00FF_00FF
        word = (word | (word >> 8)) & 0x0000_FFFF_0000_FFFF
        return (word | (word >> 16)) & 0xFFFF_FFFF
    }

    /// The digits of the bytes. `out`: room for twice as many.
    static func unpack(_ bytes: UnsafeRawBufferPointer, to out: UnsafeMutableRawPointer) {
        func digit(_ nibble: UInt8) -> UInt8 { nibble < 10 ? 0x30 + nibble : 0x57 + nibble }
        for (index, byte) in bytes.enumerated() {
            out.storeBytes(of: digit(byte >> 4), toByteOffset: 2 * index, as: UInt8.self)
            out.storeBytes(of: digit(byte & 15), toByteOffset: 2 * index + 1, as: UInt8.self)
        }
    }
}
