/// Checks device tokens, which are hex digits, and writes the paths of their requests.
///
/// Source: Apple, "Sending notification requests to APNs" (`POST /3/device/<hex>`) and "Registering your app with APNs"
/// (make no assumption about the size). So any even number of digits is accepted, up to a limit chosen here.
@usableFromInline package enum DeviceToken {
    /// The maximum number of hex digits.
    @inlinable package static var lengthMax: Int { 200 }
    /// The number of hex digits in all tokens today, which have 32 bytes.
    package static let usualLength = 64

    /// Checks a token and writes it in lower case.
    ///
    /// - Parameters:
    ///   - text: the row's value, without blanks. It may end at the end of mapped memory: nothing beyond it is read.
    ///   - out: room for `text.count` bytes, not overlapping `text`. Its content is undefined if a fault is returned.
    /// - Returns: nil if `text` is a token, else its fault.
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

    /// Writes blocks of 16 bytes. The last block overlaps the one before it, so that no byte is left over. `count` is at
    /// least 16.
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

    /// Writes 16 bytes in lower case. Bit 7 of each byte of the result shows whether the byte was a hex digit.
    ///
    /// The ranges are tested by additions that carry into bit 7, and not by comparisons, because the compiler does not
    /// vectorise comparisons between vectors of unsigned bytes (Swift 6.3: one byte at a time).
    @inline(__always)
    private static func writeBlock(
        _ start: UnsafeRawPointer, _ offset: Int, _ out: UnsafeMutableRawPointer
    ) -> SIMD16<UInt8> {
        let bytes = unsafe start.loadUnaligned(fromByteOffset: offset, as: SIMD16<UInt8>.self)
        // Bit 5 is set in all digits, and setting it makes a letter lower-case.
        let lower = bytes | SIMD16(repeating: 0x20)
        unsafe out.storeBytes(of: lower, toByteOffset: offset, as: SIMD16<UInt8>.self)
        let sevenBits = bytes & SIMD16(repeating: 0x7f)
        let isDigit = atLeast(UInt8(ascii: "0"), sevenBits) & ~atLeast(UInt8(ascii: "9") + 1, sevenBits)
        let sevenLower = lower & SIMD16(repeating: 0x7f)
        let isLetter = atLeast(UInt8(ascii: "a"), sevenLower) & ~atLeast(UInt8(ascii: "f") + 1, sevenLower)
        return (isDigit | isLetter) & ~bytes
    }

    /// Sets bit 7 of each byte that is at least `bound`. The bytes must be below 0x80.
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
    /// The part of the path before the token.
    package static let pathPrefix = "/3/device/"

    @inlinable package static var pathPrefixLength: Int { 10 }

    /// The maximum length of a path in bytes.
    @inlinable package static var pathLengthMax: Int { pathPrefixLength + lengthMax }

    /// Checks a token and writes the path of its request.
    ///
    /// - Parameters:
    ///   - text: the row's value.
    ///   - out: room for 10 bytes more than `text`, the length of the prefix; at most ``pathLengthMax`` are written.
    /// - Returns: nil if `text` is a token, else its fault.
    package static func writePath(
        _ text: UnsafeRawBufferPointer, to out: UnsafeMutableRawPointer
    ) -> DeviceTokenFault? {
        unsafe out.storeBytes(of: pathStart.littleEndian, as: UInt64.self)
        unsafe out.storeBytes(of: pathRest.littleEndian, toByteOffset: 8, as: UInt16.self)
        return unsafe write(text, to: out + pathPrefixLength)
    }

    /// ``pathPrefix`` as two little-endian numbers: `/3/devic` and `e/`.
    private static let pathStart: UInt64 = 0x6369_7665_642f_332f
    private static let pathRest: UInt16 = 0x2f65
}

/// Why a text is not a device token. A trivial type, so that it costs nothing if there is no fault.
package enum DeviceTokenFault: Error, Equatable, Sendable {
    case empty
    /// The text begins or ends with a space or a tab.
    case blank
    /// The offset of the first byte that is not a hex digit.
    case notHex(at: Int)
    /// The number of digits, which is odd.
    case odd(Int)
    /// The number of digits.
    case tooLong(Int)
}

extension DeviceToken {
    /// Returns the most helpful of the faults of a text that was rejected.
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
    /// The fault as a sentence without a full stop: the column, what was expected, and what was found. It never contains
    /// the token.
    package func message(for text: UnsafeRawBufferPointer) -> String {
        if let foreign = unsafe ForeignToken.find(in: text) {
            return "token: expected hex digits, found \(foreign.message)"
        }
        return switch self {
        case .empty: "token: expected hex digits, found nothing"
        case .blank: "token: expected hex digits, found whitespace around them"
        case .notHex(let offset):
            unsafe "token: expected hex digits, found \(Quoted(text, at: offset)) at byte \(offset + 1)"
        case .odd(let count): "token: expected an even number of hex digits, found \(count)"
        case .tooLong(let count): "token: expected at most \(DeviceToken.lengthMax) hex digits, found \(count) bytes"
        }
    }
}
