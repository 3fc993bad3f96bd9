/// The `apns-id` of a row: a UUID computed from campaign and row, so that it needs no storage and a second attempt
/// carries the same one.
///
/// The UUID is of version 8 (RFC 9562 section 5.8), which leaves 122 bits to us. 64 of them are a bijection of the
/// row's number, keyed by the campaign: two rows of a campaign never share an id. The other 58 depend on campaign and
/// row, so that ids of different campaigns meet only by the chance of 122 random bits. It is a mix, not a cipher: who
/// knows one id may find out others, and nothing depends on their being secret.
package struct MessageID: Hashable, Sendable {
    /// The 16 octets of RFC 9562 section 4, the first one highest.
    package let high: UInt64
    package let low: UInt64

    /// - Parameters:
    ///   - campaign: 128 random bits, drawn once for the campaign and kept with it.
    ///   - row: the row's number in the input.
    package init(campaign: (UInt64, UInt64), row: UInt64) {
        let first = Self.mix(row ^ campaign.0)
        let second = Self.mix(first ^ campaign.1)
        // 48 bits, version, 12 bits; variant, the last 4 bits of the bijection, 58 bits.
        high = (first & 0xffff_ffff_ffff_0000) | 0x8000 | ((first >> 4) & 0x0fff)
        low = 0x8000_0000_0000_0000 | ((first & 0xf) << 58) | (second >> 6)
    }

    /// A bijection of 64 bits in which every bit of the input changes every bit of the output with even chance:
    /// the finalizer of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
    private static func mix(_ value: UInt64) -> UInt64 {
        var z = value &+ 0x9e37_79b9_7f4a_7c15
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}

extension MessageID {
    /// Bytes of the text form.
    package static let length = 36

    /// Writes 8-4-4-4-12 lower-case hex digits, as Apple asks ("Sending notification requests to APNs").
    /// `out`: room for ``length`` bytes. Called once a row.
    package func write(to out: UnsafeMutableRawPointer) {
        let dash = UInt8(ascii: "-")
        out.storeBytes(of: Self.hex(high >> 32), as: UInt64.self)
        out.storeBytes(of: dash, toByteOffset: 8, as: UInt8.self)
        let second = Self.hex(high & 0xffff_ffff)
        out.storeBytes(of: UInt32(truncatingIfNeeded: second), toByteOffset: 9, as: UInt32.self)
        out.storeBytes(of: dash, toByteOffset: 13, as: UInt8.self)
        out.storeBytes(of: UInt32(truncatingIfNeeded: second >> 32), toByteOffset: 14, as: UInt32.self)
        out.storeBytes(of: dash, toByteOffset: 18, as: UInt8.self)
        let third = Self.hex(low >> 32)
        out.storeBytes(of: UInt32(truncatingIfNeeded: third), toByteOffset: 19, as: UInt32.self)
        out.storeBytes(of: dash, toByteOffset: 23, as: UInt8.self)
        out.storeBytes(of: UInt32(truncatingIfNeeded: third >> 32), toByteOffset: 24, as: UInt32.self)
        out.storeBytes(of: Self.hex(low & 0xffff_ffff), toByteOffset: 28, as: UInt64.self)
    }

    /// Eight hex digits of a 32-bit number, the first digit in the lowest byte: stored little-endian they read in
    /// order.
    private static func hex(_ number: UInt64) -> UInt64 {
        var x = number.byteSwapped >> 32
        // Bytes apart, then nibbles apart, the high nibble of each byte first.
        x = (x | (x << 16)) & 0x0000_ffff_0000_ffff
        x = (x | (x << 8)) & 0x00ff_00ff_00ff_00ff
        x = ((x >> 4) & 0x000f_000f_000f_000f) | ((x & 0x000f_000f_000f_000f) << 8)
        // '0' + nibble, and 39 more from 10 on: adding 6 carries into bit 4 exactly then.
        let letters = ((x &+ 0x0606_0606_0606_0606) >> 4) & 0x0101_0101_0101_0101
        return (x &+ 0x3030_3030_3030_3030 &+ letters &* 39).littleEndian
    }

    /// A row's own id: 8-4-4-4-12 hex digits in lower case.
    package static func check(_ text: UnsafeRawBufferPointer) -> FieldFault? {
        guard text.count == length else { return .messageID }
        for (index, byte) in text.enumerated() {
            let isDash = index == 8 || index == 13 || index == 18 || index == 23
            let isDigit = byte &- UInt8(ascii: "0") < 10 || byte &- UInt8(ascii: "a") < 6
            guard isDash ? byte == UInt8(ascii: "-") : isDigit else { return .messageID }
        }
        return nil
    }

    /// The text form.
    package var text: String {
        String(unsafeUninitializedCapacity: Self.length) { out in
            write(to: out.baseAddress!)
            return Self.length
        }
    }
}
