/// A field that must be a number.
enum NumberField {
    @inline(__always)
    static func isValid(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        count > 0 && JSONNumber.length(bytes, available: count) == count
    }
}

/// A field that must be a Boolean: `true` or `false` in any letter case, as spreadsheets and scripts write them, or `1`
/// or `0`. Words that depend on a language, such as yes and no, are none.
enum BoolField {
    static let writtenCountMax = 5

    @inline(__always)
    static func parse(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Bool? {
        switch count {
        case 1 where bytes[0] | 1 == UInt8(ascii: "1"): return bytes[0] == UInt8(ascii: "1")
        case 4 where lowercased(bytes) == 0x6575_7274: return true  // "true"
        case 5 where lowercased(bytes) == 0x736C_6166 && bytes[4] | 0x20 == UInt8(ascii: "e"): return false  // "fals"
        default: return nil
        }
    }

    /// Four letters as one little-endian word; nothing but a letter becomes a letter by this.
    @inline(__always)
    private static func lowercased(_ bytes: UnsafePointer<UInt8>) -> UInt32 {
        UInt32(littleEndian: bytes.word(as: UInt32.self)) | 0x2020_2020
    }

    @inline(__always)
    static func write(_ value: Bool, to target: UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8> {
        target.put(UInt32(littleEndian: value ? 0x6575_7274 : 0x736C_6166))
        if value { return target + 4 }
        target[4] = UInt8(ascii: "e")
        return target + 5
    }
}
