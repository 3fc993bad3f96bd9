import APNSBatchBasics

/// Checks whether bytes are well-formed UTF-8.
enum UTF8Check {
    /// Returns the offset of the first ill-formed byte, nil if there is none.
    static func firstFault(in bytes: UnsafePointer<UInt8>, count: Int) -> Int? {
        var index = 0
        while index < count {
            if index &+ 8 <= count, unsafe (bytes + index).word(as: UInt64.self) & 0x8080_8080_8080_8080 == 0 {
                index &+= 8
                continue
            }
            while index &+ 4 <= count, unsafe isThreeBytes((bytes + index).word()) { index &+= 3 }
            if index == count { return nil }
            let length = unsafe (bytes + index).sequenceLength(available: count &- index)
            if length == 0 { return index }
            index &+= length
        }
        return nil
    }

    /// Whether four bytes begin with a well-formed sequence of three, neither overlong nor a surrogate. Most scripts other
    /// than Latin consist of such sequences.
    @inline(__always)
    private static func isThreeBytes(_ word: UInt32) -> Bool {
        let word = UInt32(littleEndian: word)
        let discriminant = word & 0x200F
        return word & 0xC0_C0F0 == 0x80_80E0 && discriminant != 0 && discriminant != 0x200D
    }
}
