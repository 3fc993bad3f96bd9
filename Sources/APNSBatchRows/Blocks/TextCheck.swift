import APNSBatchBasics

/// Whether bytes are text: UTF-8 as RFC 3629 defines it (shortest form, no surrogates, nothing above U+10FFFF) and no
/// NUL.
///
/// Field and record ends are ASCII, so a chunk that is text consists of fields that are text, and nothing needs to be
/// looked at again row by row.
enum TextCheck {
    /// Looks at whole blocks. `bytes` has `ByteBlock.slack` readable bytes behind `count`.
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

    /// What the bytes of the blocks so far demand of the bytes that follow. Bit i is byte i of the next block.
    private struct Expected {
        /// Must be a continuation byte, 0x80...0xBF.
        var continuation: UInt64 = 0
        /// 0: the byte follows E0, ED, F0 or F4 in the previous block and must be in a part of that range.
        var afterE0: UInt64 = 0
        var afterED: UInt64 = 0
        var afterF0: UInt64 = 0
        var afterF4: UInt64 = 0

        /// The five masks are zero together: the four others are parts of the first.
        @inline(__always)
        var isNothing: Bool {
            continuation == 0
        }

        /// Takes the next block, of which only the bytes of `valid` count. False: not text.
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

        /// The block's only sequences are of two bytes, as in most of Europe.
        @inline(__always)
        private mutating func acceptPairs(_ block: ByteBlock, lead: UInt64, continuation: UInt64) -> Bool {
            // C0 and C1 would be overlong.
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
    /// The first byte that is not text, and what is wrong with it. Byte by byte: for bad rows only.
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
