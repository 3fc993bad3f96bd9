/// A block as eight words of eight bytes: the portable implementation.
struct WordByteBlock {
    private let words: SIMD8<UInt64>

    @inline(__always)
    init(_ bytes: UnsafePointer<UInt8>) {
        let raw = unsafe UnsafeRawPointer(bytes)
        var words = SIMD8<UInt64>()
        for index in 0..<8 {
            words[index] = unsafe UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: index &* 8, as: UInt64.self))
        }
        self.words = words
    }

    private static let lows: UInt64 = 0x0101_0101_0101_0101
    private static let sevens: UInt64 = 0x7F7F_7F7F_7F7F_7F7F

    /// Gathers the lowest bit of each byte of a word into eight bits. No other bit of `bits` may be set.
    @inline(__always)
    private static func gather(_ bits: UInt64) -> UInt64 {
        (bits &* 0x0102_0408_1020_4080) &>> 56
    }

    @inline(__always)
    private func masks(_ lowBits: (UInt64) -> UInt64) -> UInt64 {
        var mask: UInt64 = 0
        for index in 0..<8 {
            mask |= Self.gather(lowBits(words[index])) &<< UInt64(truncatingIfNeeded: index &* 8)
        }
        return mask
    }

    /// A mask of the bytes that are equal to `byte`.
    @inline(__always)
    func equal(to byte: UInt8) -> UInt64 {
        let pattern = Self.lows &* UInt64(byte)
        return masks { word in
            // A byte of `difference` is zero where the bytes are equal. No addition below carries into the next byte.
            let difference = word ^ pattern
            let nonZero = ((difference & Self.sevens) &+ Self.sevens) | difference
            return (~nonZero &>> 7) & Self.lows
        }
    }

    /// A mask of the bytes whose bit `number` (0...7) is set.
    @inline(__always)
    func bit(_ number: Int32) -> UInt64 {
        masks { ($0 &>> UInt64(truncatingIfNeeded: number)) & Self.lows }
    }

    /// Whether all bytes are in 0x01...0x7F.
    @inline(__always)
    var isPlain: Bool {
        (bit(7) | equal(to: 0)) == 0
    }
}
