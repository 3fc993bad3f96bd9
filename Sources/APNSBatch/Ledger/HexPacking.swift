/// Lower-case hexadecimal digits as the bytes that they mean: how tokens stand in the ledger.
enum HexPacking {
    /// Packs a text of an even number of lower-case digits into half as many bytes; false for any other text, and then
    /// `out` holds anything. `out`: room for half the text, rounded up to four bytes.
    static func pack(_ text: UnsafeRawBufferPointer, to out: UnsafeMutableRawPointer) -> Bool {
        guard text.count > 0, text.count % 2 == 0, let base = text.baseAddress else { return false }
        var at = 0
        while at + 8 <= text.count {
            guard let packed = pack(UInt64(littleEndian: base.loadUnaligned(fromByteOffset: at, as: UInt64.self)))
            else { return false }
            out.storeBytes(of: packed.littleEndian, toByteOffset: at / 2, as: UInt32.self)
            at += 8
        }
        guard at < text.count else { return true }
        var last: UInt64 = 0x3030_3030_3030_3030
        withUnsafeMutableBytes(of: &last) {
            $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: text[at...]))
        }
        guard let packed = pack(UInt64(littleEndian: last)) else { return false }
        out.storeBytes(of: packed.littleEndian, toByteOffset: at / 2, as: UInt32.self)
        return true
    }

    /// Eight digits, the first in the lowest byte, as four bytes in the same order; nil if one is none.
    private static func pack(_ digits: UInt64) -> UInt32? {
        let ones: UInt64 = 0x0101_0101_0101_0101
        guard digits & (ones &* 0x80) == 0 else { return nil }
        // The top bit of each byte: whether it is at least the bound. No byte carries into the next.
        func atLeast(_ bound: UInt8) -> UInt64 { (digits &+ ones &* UInt64(0x80 - bound)) & (ones &* 0x80) }
        let isDigit = atLeast(0x30) & ~atLeast(0x3A)
        let isLetter = atLeast(0x61) & ~atLeast(0x67)
        guard isDigit | isLetter == ones &* 0x80 else { return nil }
        let nibbles = (digits & (ones &* 0x0F)) &+ (isLetter >> 7) &* 9
        // The first digit of each pair is the high one.
        var pairs = ((nibbles << 4) | (nibbles >> 8)) & 0x00FF_00FF_00FF_00FF
        pairs = (pairs | (pairs >> 8)) & 0x0000_FFFF_0000_FFFF
        return UInt32(truncatingIfNeeded: pairs | (pairs >> 16))
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
