/// Sixteen bytes, the unit in which text is searched and copied. Every x86-64 and arm64 processor has registers of this
/// width, so no build setting is needed.
typealias Bytes16 = SIMD16<UInt8>

extension UnsafeRawBufferPointer {
    /// The address of the bytes. That of an empty buffer, which may have none, must not be dereferenced.
    @inline(__always)
    var start: UnsafePointer<UInt8> {
        unsafe (baseAddress ?? UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped).assumingMemoryBound(to: UInt8.self)
    }
}

extension UnsafePointer<UInt8> {
    @inline(__always)
    func block() -> Bytes16 { unsafe UnsafeRawPointer(self).loadUnaligned(as: Bytes16.self) }

    @inline(__always)
    func word<Word: FixedWidthInteger & BitwiseCopyable>(as type: Word.Type = Word.self) -> Word {
        unsafe UnsafeRawPointer(self).loadUnaligned(as: Word.self)
    }

    /// Returns one to fifteen bytes as a block, with zeros after them. Nothing beyond the bytes is read.
    @inline(__always)
    func block(count: Int) -> Bytes16 {
        var (low, high): (UInt64, UInt64) = (0, 0)
        if count >= 8 {
            unsafe low = word()
            // Two shifts, because a shift by a whole word has no effect.
            unsafe high = ((self + (count &- 8)).word(as: UInt64.self) &>> 8) &>> UInt64((15 &- count) &* 8)
        } else if count >= 4 {
            unsafe low = UInt64(word(as: UInt32.self))
            unsafe low |= UInt64((self + (count &- 4)).word(as: UInt32.self)) &<< UInt64((count &- 4) &* 8)
        } else {
            unsafe low = UInt64(self[0]) | UInt64(self[count >> 1]) &<< UInt64((count >> 1) &* 8)
            unsafe low |= UInt64(self[count &- 1]) &<< UInt64((count &- 1) &* 8)
        }
        return unsafe unsafeBitCast(SIMD2(low.littleEndian, high.littleEndian), to: Bytes16.self)
    }
}

extension Bytes16 {
    /// The block that begins one byte later, with a zero at its end.
    @inline(__always)
    var next: Bytes16 {
        let halves = unsafe unsafeBitCast(self, to: SIMD2<UInt64>.self)
        return unsafe unsafeBitCast(SIMD2(halves[0] &>> 8 | halves[1] &<< 56, halves[1] &>> 8), to: Bytes16.self)
    }
}

extension UnsafeMutablePointer<UInt8> {
    @inline(__always)
    func put<Value: BitwiseCopyable>(_ value: Value) {
        unsafe UnsafeMutableRawPointer(self).storeBytes(of: value, as: Value.self)
    }

    /// Copies `count` bytes to this address and returns the address after them. It writes exactly that many: the last step
    /// overlaps the one before it. `source` must not overlap the target.
    ///
    /// The parts of a payload are short, and for short copies this is cheaper than a call of memcpy.
    @inline(__always)
    func copying(_ source: UnsafePointer<UInt8>, _ count: Int) -> UnsafeMutablePointer<UInt8> {
        if count >= 16 {
            var done = 0
            while done &+ 16 <= count {
                unsafe (self + done).put((source + done).block())
                done &+= 16
            }
            unsafe (self + (count &- 16)).put((source + (count &- 16)).block())
        } else if count >= 8 {
            unsafe put(source.word(as: UInt64.self))
            unsafe (self + (count &- 8)).put((source + (count &- 8)).word(as: UInt64.self))
        } else if count >= 4 {
            unsafe put(source.word(as: UInt32.self))
            unsafe (self + (count &- 4)).put((source + (count &- 4)).word(as: UInt32.self))
        } else if count > 0 {
            unsafe self[0] = unsafe source[0]
            unsafe self[count >> 1] = unsafe source[count >> 1]
            unsafe self[count &- 1] = unsafe source[count &- 1]
        }
        return unsafe self + count
    }
}

extension SIMDMask<SIMD16<Int8>> {
    /// The index of the first lane that is set, 16 if none is.
    @inline(__always)
    var firstIndex: Int {
        let halves = unsafe unsafeBitCast(self, to: SIMD2<UInt64>.self)
        if halves[0] != 0 { return halves[0].trailingZeroBitCount >> 3 }
        if halves[1] != 0 { return 8 &+ (halves[1].trailingZeroBitCount >> 3) }
        return 16
    }

    @inline(__always)
    var isEmpty: Bool {
        let halves = unsafe unsafeBitCast(self, to: SIMD2<UInt64>.self)
        return halves[0] | halves[1] == 0
    }
}

/// The lanes of a mask that are set, from the first one on.
struct SetLanes: Sequence, IteratorProtocol {
    // A bit for each lane.
    private var low: UInt64
    private var high: UInt64

    @inline(__always)
    init(_ mask: SIMDMask<SIMD16<Int8>>) {
        let halves = unsafe unsafeBitCast(mask, to: SIMD2<UInt64>.self)
        (low, high) = (halves[0] & 0x8080_8080_8080_8080, halves[1] & 0x8080_8080_8080_8080)
    }

    @inline(__always)
    mutating func next() -> Int? {
        if low != 0 {
            defer { low &= low &- 1 }
            return low.trailingZeroBitCount >> 3
        }
        guard high != 0 else { return nil }
        defer { high &= high &- 1 }
        return 8 &+ (high.trailingZeroBitCount >> 3)
    }
}

/// The bytes that must be escaped in a JSON string (RFC 8259 section 7): `"`, `\` and those below 0x20.
enum SpecialBytes {
    /// Flipping bit 1 brings `"` (0x22) next to the control characters, so one comparison finds both.
    @inline(__always)
    static func mask(_ block: Bytes16) -> SIMDMask<SIMD16<Int8>> {
        ((block ^ Bytes16(repeating: 0x02)) .< Bytes16(repeating: 0x21))
            .| (block .== Bytes16(repeating: UInt8(ascii: "\\")))
    }

    /// Returns the address of the first such byte, or the end. It ORs the bytes it has passed, and perhaps some more, into
    /// `high`, which shows whether all of them are below 0x80.
    @inline(__always)
    static func first(
        from start: UnsafePointer<UInt8>, end: UnsafePointer<UInt8>, _ high: inout UInt64
    ) -> UnsafePointer<UInt8> {
        var at = unsafe start
        while unsafe end - at >= 16 {
            let block = unsafe at.block()
            let halves = unsafe unsafeBitCast(block, to: SIMD2<UInt64>.self)
            high |= halves[0] | halves[1]
            let clean = mask(block).firstIndex
            unsafe at += clean
            if clean < 16 { return unsafe at }
        }
        while unsafe at < end, unsafe !contains(at.pointee) {
            unsafe high |= UInt64(at.pointee)
            unsafe at += 1
        }
        return unsafe at
    }

    /// Whether any of eight bytes must be escaped.
    @inline(__always)
    static func any(in word: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let flipped = word ^ (ones &* 0x02)
        let low = (flipped &- (ones &* 0x21)) & ~flipped
        let backslash = word ^ (ones &* 0x5C)
        let equal = (backslash &- ones) & ~backslash
        return (low | equal) & (ones &* 0x80) != 0
    }

    @inline(__always)
    static func contains(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }
}
