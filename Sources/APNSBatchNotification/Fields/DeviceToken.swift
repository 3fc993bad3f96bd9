/// A device token as hex digits, and the path of the request to it.
///
/// Source: Apple, "Sending notification requests to APNs": `POST /3/device/<hex>`, and "Registering your app with
/// APNs": make no assumption about the size. So any even count of digits is taken, up to a bound of ours.
@usableFromInline package enum DeviceToken {
    /// The most hex digits taken.
    @inlinable package static var lengthMax: Int { 200 }
    /// The hex digits of the 32 bytes that all tokens have today.
    package static let usualLength = 64

    /// Checks a token and writes it in lower case.
    ///
    /// - Parameters:
    ///   - text: the row's value, nothing around it. May end at the end of mapped memory: nothing beyond it is read.
    ///   - out: room for `text.count` bytes, not overlapping `text`. Its content is of no use when a fault is returned.
    /// - Returns: nil when it is a token.
    /// - Complexity: O(n), 16 digits at a time; called once a row.
    package static func write(
        _ text: UnsafeRawBufferPointer, to out: UnsafeMutableRawPointer
    ) -> DeviceTokenFault? {
        let count = text.count
        guard count >= 2, count <= lengthMax, count & 1 == 0, let start = text.baseAddress else {
            return unsafe fault(of: text)
        }
        let isHex = unsafe count >= 16 ? writeBlocks(start, count, out) : writeBytes(start, count, out)
        return unsafe isHex ? nil : fault(of: text)
    }

    /// Blocks of 16; the last one overlaps the one before it, so that no byte is left over. `count` is at least 16.
    private static func writeBlocks(
        _ start: UnsafeRawPointer, _ count: Int, _ out: UnsafeMutableRawPointer
    ) -> Bool {
        var good = SIMD16<UInt8>(repeating: 0x80)
        var offset = 0
        while offset &+ 16 <= count {
            unsafe good &= writeBlock(start, offset, out)
            offset &+= 16
        }
        if offset < count { unsafe good &= writeBlock(start, count &- 16, out) }
        let halves = unsafe unsafeBitCast(good, to: SIMD2<UInt64>.self)
        return halves[0] & halves[1] == 0x8080_8080_8080_8080
    }

    /// Writes 16 bytes in lower case; bit 7 of a byte of the result says whether there was a hex digit.
    ///
    /// The ranges are told by additions that carry into bit 7, from the bound upwards, and not by comparisons: those
    /// between vectors of unsigned bytes are not vectorised by the compiler (Swift 6.3: one byte at a time).
    @inline(__always)
    private static func writeBlock(
        _ start: UnsafeRawPointer, _ offset: Int, _ out: UnsafeMutableRawPointer
    ) -> SIMD16<UInt8> {
        let bytes = unsafe start.loadUnaligned(fromByteOffset: offset, as: SIMD16<UInt8>.self)
        // Bit 5 is set in all digits and makes a letter small.
        let lower = bytes | SIMD16(repeating: 0x20)
        unsafe out.storeBytes(of: lower, toByteOffset: offset, as: SIMD16<UInt8>.self)
        let sevenBits = bytes & SIMD16(repeating: 0x7f)
        let isDigit = atLeast(UInt8(ascii: "0"), sevenBits) & ~atLeast(UInt8(ascii: "9") + 1, sevenBits)
        let sevenLower = lower & SIMD16(repeating: 0x7f)
        let isLetter = atLeast(UInt8(ascii: "a"), sevenLower) & ~atLeast(UInt8(ascii: "f") + 1, sevenLower)
        return (isDigit | isLetter) & ~bytes
    }

    /// Bit 7 of each byte: whether it is at least `bound`. Bytes of seven bits only.
    @inline(__always)
    private static func atLeast(_ bound: UInt8, _ bytes: SIMD16<UInt8>) -> SIMD16<UInt8> {
        bytes &+ SIMD16(repeating: 0x80 - bound)
    }

    private static func writeBytes(
        _ start: UnsafeRawPointer, _ count: Int, _ out: UnsafeMutableRawPointer
    ) -> Bool {
        var good = true
        for offset in 0..<count {
            let byte = unsafe start.load(fromByteOffset: offset, as: UInt8.self)
            good = good && isHexDigit(byte)
            unsafe out.storeBytes(of: byte | 0x20, toByteOffset: offset, as: UInt8.self)
        }
        return good
    }

    static func isHexDigit(_ byte: UInt8) -> Bool {
        byte.isDigit || (byte | 0x20) &- UInt8(ascii: "a") < 6
    }
}

extension DeviceToken {
    /// What stands before the token in the path.
    package static let pathPrefix = "/3/device/"

    @inlinable package static var pathPrefixLength: Int { 10 }

    /// The most bytes of a path.
    @inlinable package static var pathLengthMax: Int { pathPrefixLength + lengthMax }

    /// Checks a token and writes the whole path of the request to it.
    ///
    /// - Parameters:
    ///   - text: the row's value.
    ///   - out: room for 10 bytes more than `text`, the prefix's length; at most ``pathLengthMax`` are written.
    /// - Returns: nil when it is a token.
    package static func writePath(
        _ text: UnsafeRawBufferPointer, to out: UnsafeMutableRawPointer
    ) -> DeviceTokenFault? {
        unsafe out.storeBytes(of: pathStart.littleEndian, as: UInt64.self)
        unsafe out.storeBytes(of: pathRest.littleEndian, toByteOffset: 8, as: UInt16.self)
        return unsafe write(text, to: out + pathPrefixLength)
    }

    /// ``pathPrefix`` as two numbers, first byte lowest: `/3/devic` and `e/`.
    private static let pathStart: UInt64 = 0x6369_7665_642f_332f
    private static let pathRest: UInt16 = 0x2f65
}

/// Why a text is no device token. Trivial, so that the good path costs nothing.
package enum DeviceTokenFault: Error, Equatable, Sendable {
    case empty
    /// A blank or a tab at an end.
    case blank
    /// Offset of the first byte that is no hex digit.
    case notHex(at: Int)
    /// An odd count of digits.
    case odd(Int)
    /// Digits it has.
    case tooLong(Int)
}

extension DeviceToken {
    /// What is wrong with a text that was refused; the most telling fault first.
    static func fault(of text: UnsafeRawBufferPointer) -> DeviceTokenFault {
        guard let first = unsafe text.first, let last = unsafe text.last else { return .empty }
        if isBlank(first) || isBlank(last) { return .blank }
        if text.count > lengthMax { return .tooLong(text.count) }
        if let offset = unsafe text.firstIndex(where: { !isHexDigit($0) }) { return .notHex(at: offset) }
        return .odd(text.count)
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }
}

extension DeviceTokenFault {
    /// A sentence without a full stop: column, what was expected, what was found. Never the token.
    package func message(for text: UnsafeRawBufferPointer) -> String {
        switch self {
        case .empty: "token: expected hex digits, found nothing"
        case .blank: "token: expected hex digits, found whitespace around them"
        case .notHex(let offset):
            unsafe "token: expected hex digits, found \(Quoted(text, at: offset)) at byte \(offset + 1)"
        case .odd(let count): "token: expected an even number of hex digits, found \(count)"
        case .tooLong(let count): "token: expected at most \(DeviceToken.lengthMax) hex digits, found \(count) bytes"
        }
    }
}
