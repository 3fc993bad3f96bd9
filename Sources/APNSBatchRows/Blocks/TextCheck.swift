import APNSBatchBasics

/// Checks whether bytes are text: UTF-8 as defined by RFC 3629 (shortest form, no surrogates, nothing above U+10FFFF), and
/// no NUL.
///
/// The ends of fields and records are ASCII, so if a chunk is text, its fields are, and need no check of their own.
enum TextCheck {
    /// Whether the bytes are text. Whole blocks are loaded: `ByteBlock.slack` bytes after `count` must be readable.
    static func isText(_ bytes: UnsafePointer<UInt8>, count: Int) -> Bool {
        var expected = Expected()
        var at = 0
        while at < count {
            let block = unsafe ByteBlock(bytes + at)
            if !(block.isPlain && expected.isNothing) {
                guard expected.accept(block, valid: ByteBlock.mask(first: count &- at)) else { return false }
            }
            at &+= 64
        }
        return expected.isNothing
    }

    /// What the blocks so far require of the bytes of the next block. Bit i stands for byte i.
    private struct Expected {
        /// The byte must be a continuation byte, 0x80...0xBF.
        var continuation: UInt64 = 0
        /// Bit 0: the byte follows E0, ED, F0 or F4 in the previous block, and must be in a part of that range.
        var afterE0: UInt64 = 0
        var afterED: UInt64 = 0
        var afterF0: UInt64 = 0
        var afterF4: UInt64 = 0

        /// The first mask decides, because the other four are subsets of it.
        @inline(__always)
        var isNothing: Bool {
            continuation == 0
        }

        /// Checks the next block; only its bytes in `valid` count. Returns false if it is not text.
        @inline(__always)
        mutating func accept(_ block: ByteBlock, valid: UInt64) -> Bool {
            let bit7 = block.bit(7) & valid
            let bit6 = block.bit(6)
            let lead = bit7 & bit6
            let continuation = bit7 & ~bit6
            guard block.equal(to: 0) & valid == 0 else { return false }
            let bit5 = block.bit(5)
            let leadOfThree = lead & bit5
            if leadOfThree | self.continuation == 0 {
                return acceptPairs(block, lead: lead, continuation: continuation)
            }
            return acceptAll(block, lead: lead, longer: leadOfThree, bit5: bit5, continuation: continuation)
        }

        /// Checks a block whose only multi-byte sequences have two bytes, as in most European languages.
        @inline(__always)
        private mutating func acceptPairs(_ block: ByteBlock, lead: UInt64, continuation: UInt64) -> Bool {
            // C0 and C1 begin overlong sequences.
            let overlong = lead & ~(block.bit(4) | block.bit(3) | block.bit(2) | block.bit(1))
            self.continuation = lead &>> 63
            return overlong == 0 && lead &<< 1 == continuation
        }

        @inline(__always)
        private mutating func acceptAll(
            _ block: ByteBlock, lead: UInt64, longer: UInt64, bit5: UInt64, continuation: UInt64
        ) -> Bool {
            let (bit4, bit3, bit2) = (block.bit(4), block.bit(3), block.bit(2))
            let (bit1, bit0) = (block.bit(1), block.bit(0))
            let low2 = bit1 | bit0

            let two = lead & ~bit5
            let three = longer & ~bit4
            let four = longer & bit4
            // C0, C1 (overlong) and F5...FF (above U+10FFFF).
            let never = (two & ~(bit4 | bit3 | bit2 | bit1)) | (four & (bit3 | (bit2 & low2)))

            let e0 = three & ~(bit3 | bit2 | low2)
            let ed = three & bit3 & bit2 & ~bit1 & bit0
            let f0 = four & ~(bit2 | low2)
            let f4 = four & bit2

            // E0 A0...BF, ED 80...9F, F0 90...BF, F4 80...8F.
            let wrong =
                ((e0 &<< 1 | afterE0) & ~bit5)
                | ((ed &<< 1 | afterED) & bit5)
                | ((f0 &<< 1 | afterF0) & ~(bit5 | bit4))
                | ((f4 &<< 1 | afterF4) & (bit5 | bit4))

            let demanded = lead &<< 1 | longer &<< 2 | four &<< 3 | self.continuation
            self.continuation = lead &>> 63 | longer &>> 62 | four &>> 61
            (afterE0, afterED, afterF0, afterF4) = (e0 &>> 63, ed &>> 63, f0 &>> 63, f4 &>> 63)
            return never | wrong == 0 && demanded == continuation
        }
    }
}

extension TextCheck {
    /// Returns the first byte that is not text, and its fault. It goes byte by byte, and is for bad rows only.
    static func firstFault(_ bytes: Span<UInt8>, from start: Int, to end: Int) -> Fault? {
        var at = start
        while at < end {
            if bytes[at] == 0 { return Fault(at: at, isNUL: true) }
            let length = unsafe bytes.withUnsafeBufferPointer {
                unsafe ($0.baseAddress! + at).sequenceLength(available: end - at)
            }
            if length == 0 { return Fault(at: at, isNUL: false) }
            at += length
        }
        return nil
    }

    struct Fault {
        let at: Int
        let isNUL: Bool
    }
}
