/// Sixty-four bytes, asked as bit masks: bit i of a mask tells about byte i.
///
/// Made from a pointer, unsafely: it may reach behind the last byte, into the slack of the buffer.
///
/// On x86-64 the masks come from SSE2, which every such machine has; elsewhere from arithmetic on words.
#if arch(x86_64)
    typealias ByteBlock = VectorByteBlock
#else
    typealias ByteBlock = WordByteBlock
#endif

extension ByteBlock {
    /// Bytes that a buffer must have behind its last byte, because blocks are read whole. What they hold is not used.
    static let slack = 64

    /// The mask of the first `count` bytes; all, if `count` is 64 or more. `count` is positive.
    @inline(__always)
    static func mask(first count: Int) -> UInt64 {
        count >= 64 ? ~0 : (1 &<< UInt64(truncatingIfNeeded: count)) &- 1
    }
}

/// Bit i of the result is the parity of bits 0...i: with quotes as input, the bytes from each opening quote up to and
/// without its closing one.
@inline(__always)
func runningParity(_ bits: UInt64) -> UInt64 {
    var parity = bits
    parity ^= parity &<< 1
    parity ^= parity &<< 2
    parity ^= parity &<< 4
    parity ^= parity &<< 8
    parity ^= parity &<< 16
    parity ^= parity &<< 32
    return parity
}

/// Bytes that mean something whatever the dialect.
enum Byte {
    static let lineFeed = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")
    static let quote = UInt8(ascii: "\"")
}
