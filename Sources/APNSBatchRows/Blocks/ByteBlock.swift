/// A block of 64 bytes. Its methods return bit masks, in which bit i stands for byte i.
///
/// It is made from a pointer, which is unsafe: the block may reach past the last byte, into the slack of the buffer.
///
/// On x86-64 the masks are computed by SSE2, which every such processor has, and elsewhere by arithmetic on words.
#if arch(x86_64)
    typealias ByteBlock = VectorByteBlock
#else
    typealias ByteBlock = WordByteBlock
#endif

extension ByteBlock {
    /// The number of readable bytes that a buffer must have after its last byte, because blocks are loaded whole. Their
    /// values do not matter.
    static let slack = 64

    /// A mask of the first `count` bytes; all, if `count` is 64 or more. `count` must be positive.
    @inline(__always)
    static func mask(first count: Int) -> UInt64 {
        count >= 64 ? ~0 : (1 &<< UInt64(truncatingIfNeeded: count)) &- 1
    }
}

/// Returns a mask whose bit i is the parity of bits 0...i. For a mask of quotes, these are the bytes from each opening
/// quote up to, but not including, its closing quote.
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

/// Bytes with the same meaning in all dialects.
enum Byte {
    static let lineFeed = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")
    static let quote = UInt8(ascii: "\"")
    static let apostrophe = UInt8(ascii: "'")
    static let backslash = UInt8(ascii: "\\")
    static let comma = UInt8(ascii: ",")
}
