/// The `apns-id` of a row: a UUID computed from campaign and row, so that it needs no storage and is the same in every
/// attempt.
///
/// The UUID has version 8 (RFC 9562 section 5.8), which leaves 122 bits. 64 of them are a bijection of the row's number,
/// keyed by the campaign, so that two rows of a campaign never share an id. The other 58 depend on campaign and row, so
/// that ids of different campaigns collide only with the probability of 122 random bits. This is a mix and not a cipher:
/// one id may reveal others, and nothing depends on their secrecy.
@usableFromInline package struct MessageID: Hashable, Sendable {
    /// The 16 octets of RFC 9562 section 4, with the first octet in the highest bits.
    package let high: UInt64
    package let low: UInt64

    /// - Parameters:
    ///   - campaign: 128 random bits, chosen once for the campaign and stored with it.
    ///   - row: the row's number in the input.
    package init(campaign: (UInt64, UInt64), row: UInt64) {
        let first = Self.mix(row ^ campaign.0)
        let second = Self.mix(first ^ campaign.1)
        // 48 bits, version, 12 bits; variant, the last 4 bits of the bijection, 58 bits.
        high = (first & 0xffff_ffff_ffff_0000) | 0x8000 | ((first >> 4) & 0x0fff)
        low = 0x8000_0000_0000_0000 | ((first & 0xf) << 58) | (second >> 6)
    }

    /// Whether a text has the form of a computed id: lower-case hexadecimal digits, version 8.
    package static func isDerived(_ text: some Collection<UInt8>) -> Bool {
        text.count == length
            && text.enumerated().allSatisfy { place, byte in
                switch place {
                case 8, 13, 18, 23: byte == UInt8(ascii: "-")
                case 14: byte == UInt8(ascii: "8")
                default: byte.isDigit || 0x61...0x66 ~= byte
                }
            }
    }

    /// A bijection of 64 bits in which every input bit changes each output bit with probability one half: the finalizer of
    /// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
    private static func mix(_ value: UInt64) -> UInt64 {
        var z = value &+ 0x9e37_79b9_7f4a_7c15
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}

extension MessageID {
    /// The length of the text in bytes.
    @inlinable package static var length: Int { 36 }

    /// Writes 8-4-4-4-12 lower-case hex digits, as Apple requires ("Sending notification requests to APNs"). `out` must
    /// have room for ``length`` bytes. Called once a row.
    package func write(to out: UnsafeMutableRawPointer) {
        let first = Self.hex(high)
        let second = Self.hex(low)
        let dash = UInt8(ascii: "-")
        unsafe out.storeBytes(of: dash, toByteOffset: 8, as: UInt8.self)
        unsafe out.storeBytes(of: dash, toByteOffset: 13, as: UInt8.self)
        unsafe out.storeBytes(of: dash, toByteOffset: 18, as: UInt8.self)
        unsafe out.storeBytes(of: dash, toByteOffset: 23, as: UInt8.self)
        let firstFours = unsafe unsafeBitCast(first, to: SIMD4<UInt32>.self)
        let secondFours = unsafe unsafeBitCast(second, to: SIMD4<UInt32>.self)
        unsafe out.storeBytes(of: unsafeBitCast(first, to: SIMD2<UInt64>.self)[0], as: UInt64.self)
        unsafe out.storeBytes(of: firstFours[2], toByteOffset: 9, as: UInt32.self)
        unsafe out.storeBytes(of: firstFours[3], toByteOffset: 14, as: UInt32.self)
        unsafe out.storeBytes(of: secondFours[0], toByteOffset: 19, as: UInt32.self)
        unsafe out.storeBytes(of: secondFours[1], toByteOffset: 24, as: UInt32.self)
        unsafe out.storeBytes(of: unsafeBitCast(second, to: SIMD2<UInt64>.self)[1], toByteOffset: 28, as: UInt64.self)
    }

    /// Returns the 16 hex digits of a number, most significant first. It requires a little-endian processor, as are all
    /// those on which Swift supports Linux.
    @inline(__always)
    private static func hex(_ number: UInt64) -> SIMD16<UInt8> {
        let octets = unsafe unsafeBitCast(number.bigEndian, to: SIMD8<UInt8>.self)
        // Splits each octet into two nibbles, the high one first.
        let pairs = SIMD8<UInt16>(truncatingIfNeeded: octets)
        let apart = ((pairs &>> 4) | (pairs &<< 8)) & SIMD8(repeating: 0x0F0F)
        let nibbles = unsafe unsafeBitCast(apart, to: SIMD16<UInt8>.self)
        // '0' + nibble, and 39 more from 10 on: adding 6 carries into bit 4 exactly for these.
        let isLetter = SIMD16<UInt8>.zero &- ((nibbles &+ SIMD16(repeating: 6)) &>> 4)
        return nibbles &+ SIMD16(repeating: UInt8(ascii: "0")) &+ (isLetter & SIMD16(repeating: 39))
    }

    /// Writes an id given in the input, 8-4-4-4-12 hex digits in either case, in lower case. `out` must have room for
    /// ``length`` bytes, whose content is undefined if a fault is returned.
    package static func write(_ text: UnsafeRawBufferPointer, to out: UnsafeMutableRawPointer) -> FieldFault? {
        guard text.count == length else { return .messageID }
        for index in 0..<length {
            let byte = unsafe text[index]
            let isDash = index == 8 || index == 13 || index == 18 || index == 23
            guard isDash ? byte == UInt8(ascii: "-") : DeviceToken.isHexDigit(byte) else { return .messageID }
            // Bit 5 is set in digits and in the dash, and setting it makes a letter lower-case.
            unsafe out.storeBytes(of: byte | 0x20, toByteOffset: index, as: UInt8.self)
        }
        return nil
    }

    /// Reads an id in the form of ``write(to:)``, at the beginning of ``length`` bytes.
    package init(text: UnsafeRawPointer) {
        high = unsafe Self.number(
            text.loadUnaligned(as: UInt64.self),
            UInt64(text.loadUnaligned(fromByteOffset: 9, as: UInt32.self))
                | UInt64(text.loadUnaligned(fromByteOffset: 14, as: UInt32.self)) << 32)
        low = unsafe Self.number(
            UInt64(text.loadUnaligned(fromByteOffset: 19, as: UInt32.self))
                | UInt64(text.loadUnaligned(fromByteOffset: 24, as: UInt32.self)) << 32,
            text.loadUnaligned(fromByteOffset: 28, as: UInt64.self))
    }

    /// Returns the value of sixteen lower-case hex digits, of which each half is given as it is in memory.
    private static func number(_ first: UInt64, _ second: UInt64) -> UInt64 {
        let digits = unsafe unsafeBitCast(SIMD2(first, second), to: SIMD16<UInt8>.self)
        // The low half of a digit is its value, and that of a letter, which alone has bit 6, is 9 less.
        let nibbles = (digits & SIMD16(repeating: 15)) &+ (digits &>> 6) &* SIMD16(repeating: 9)
        let pairs = unsafe unsafeBitCast(nibbles, to: SIMD8<UInt16>.self)
        let octets = SIMD8<UInt8>(truncatingIfNeeded: (pairs &<< 4) | (pairs &>> 8))
        return unsafe UInt64(bigEndian: unsafeBitCast(octets, to: UInt64.self))
    }

    package var text: String {
        unsafe String(unsafeUninitializedCapacity: Self.length) { out in
            unsafe write(to: out.baseAddress!)
            return Self.length
        }
    }
}
