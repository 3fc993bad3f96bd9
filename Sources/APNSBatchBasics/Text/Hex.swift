/// Lower-case hexadecimal digits, two per byte.
package enum Hex {
    /// Whether the text consists of lower-case digits, is not empty, and has an even length.
    package static func isDigits(_ text: UnsafeRawBufferPointer) -> Bool {
        guard text.count > 0, text.count % 2 == 0 else { return false }
        return unsafe text.allSatisfy { $0.isDigit || $0 &- UInt8(ascii: "a") < 6 }
    }

    /// Converts an even number of digits to half as many bytes. `out` must have room for half the length of the text,
    /// rounded up to a multiple of eight bytes.
    package static func pack(_ text: UnsafeRawBufferPointer, to out: UnsafeMutableRawPointer) {
        guard let base = text.baseAddress else { return }
        var at = 0
        while at &+ 16 <= text.count {
            let packed = unsafe packBlock(base.loadUnaligned(fromByteOffset: at, as: SIMD16<UInt8>.self))
            unsafe out.storeBytes(of: packed, toByteOffset: at / 2, as: SIMD8<UInt8>.self)
            at &+= 16
        }
        guard at < text.count else { return }
        var last = SIMD16<UInt8>.zero
        unsafe withUnsafeMutableBytes(of: &last) {
            unsafe $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: text[at...]))
        }
        unsafe out.storeBytes(of: packBlock(last), toByteOffset: at / 2, as: SIMD8<UInt8>.self)
    }

    /// Converts 16 digits to eight bytes.
    @inline(__always)
    private static func packBlock(_ digits: SIMD16<UInt8>) -> SIMD8<UInt8> {
        // Bit 6 is set in letters only, whose value is nine more than their low half.
        let letters = (digits &>> 6) & SIMD16(repeating: 1)
        let nibbles = (digits & SIMD16(repeating: 0x0F)) &+ letters &+ (letters &<< 3)
        // The first digit of each pair is the high one.
        return (nibbles.evenHalf &<< 4) | nibbles.oddHalf
    }

    /// Converts bytes to digits. `out` must have room for twice as many bytes.
    package static func unpack(_ bytes: UnsafeRawBufferPointer, to out: UnsafeMutableRawPointer) {
        for index in bytes.indices {
            let byte = unsafe bytes[index]
            unsafe out.storeBytes(of: digit(byte >> 4), toByteOffset: 2 * index, as: UInt8.self)
            unsafe out.storeBytes(of: digit(byte & 15), toByteOffset: 2 * index + 1, as: UInt8.self)
        }
    }

    /// Returns the digit of a number below 16.
    @inlinable @inline(__always)
    package static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 &+ value : 0x57 &+ value }
}
