#if arch(x86_64)
    internal import _Builtin_intrinsics.intel

    /// A block as four SSE2 registers.
    struct VectorByteBlock {
        private typealias Register = SIMD2<Int64>

        private let a: Register
        private let b: Register
        private let c: Register
        private let d: Register

        @inline(__always)
        init(_ bytes: UnsafePointer<UInt8>) {
            let raw = unsafe UnsafeRawPointer(bytes)
            a = unsafe raw.loadUnaligned(fromByteOffset: 0, as: Register.self)
            b = unsafe raw.loadUnaligned(fromByteOffset: 16, as: Register.self)
            c = unsafe raw.loadUnaligned(fromByteOffset: 32, as: Register.self)
            d = unsafe raw.loadUnaligned(fromByteOffset: 48, as: Register.self)
        }

        @inline(__always)
        private static func all(_ byte: UInt8) -> Register {
            unsafe unsafeBitCast(SIMD16<UInt8>(repeating: byte), to: Register.self)
        }

        /// The top bit of each byte of four registers, as a mask.
        @inline(__always)
        private static func topBits(_ a: Register, _ b: Register, _ c: Register, _ d: Register) -> UInt64 {
            let low = UInt64(UInt32(bitPattern: _mm_movemask_epi8(a) | _mm_movemask_epi8(b) &<< 16))
            let high = UInt64(UInt32(bitPattern: _mm_movemask_epi8(c) | _mm_movemask_epi8(d) &<< 16))
            return low | high &<< 32
        }

        /// A mask of the bytes that are equal to `byte`.
        @inline(__always)
        func equal(to byte: UInt8) -> UInt64 {
            let v = Self.all(byte)
            return Self.topBits(
                _mm_cmpeq_epi8(a, v), _mm_cmpeq_epi8(b, v), _mm_cmpeq_epi8(c, v), _mm_cmpeq_epi8(d, v))
        }

        /// A mask of the bytes whose bit `number` (0...7, a constant) is set.
        @inline(__always)
        func bit(_ number: Int32) -> UInt64 {
            // Shifting 16-bit lanes moves bits across bytes, but never into a top bit that is used here.
            let by = 7 &- number
            return Self.topBits(
                _mm_slli_epi16(a, by), _mm_slli_epi16(b, by), _mm_slli_epi16(c, by), _mm_slli_epi16(d, by))
        }

        /// Whether all bytes are in 0x01...0x7F.
        @inline(__always)
        var isPlain: Bool {
            // As signed bytes, all bytes must be above zero.
            let low = _mm_and_si128(_mm_cmpgt_epi8(a, Self.all(0)), _mm_cmpgt_epi8(b, Self.all(0)))
            let high = _mm_and_si128(_mm_cmpgt_epi8(c, Self.all(0)), _mm_cmpgt_epi8(d, Self.all(0)))
            return _mm_movemask_epi8(_mm_and_si128(low, high)) == 0xFFFF
        }
    }
#endif
