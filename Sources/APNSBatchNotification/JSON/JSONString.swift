/// Writes text as the content of JSON strings. The quotes are written by the caller.
///
/// Pointers are used without bounds checks, because every field of every row is written here. The caller has reserved the
/// room.
enum JSONString {
    /// The maximum growth of a byte: the length of `\u00xx`.
    static let growthMax = 6

    /// Writes text with exactly the escapes that RFC 8259 requires; returns the address after it.
    ///
    /// It writes exactly ``escapedCount(_:_:)`` bytes and touches none after them: what is stored in blocks of sixteen is
    /// never more than what the same source bytes need when they are escaped. Bytes that are not UTF-8 are copied
    /// unchanged.
    static func writeEscaped(
        _ source: UnsafePointer<UInt8>, _ count: Int, to target: UnsafeMutablePointer<UInt8>
    ) -> UnsafeMutablePointer<UInt8> {
        if count < 16 { return unsafe writeShort(source, count, to: target) }
        var out = unsafe target
        var index = 0
        while index &+ 16 <= count {
            let block = unsafe (source + index).block()
            unsafe out.put(block)
            let clean = SpecialBytes.mask(block).firstIndex
            index &+= clean
            unsafe out += clean
            if clean < 16 {
                unsafe out = unsafe JSONEscape.writeSpecial(source[index], to: out)
                index &+= 1
            }
        }
        let rest = count &- index
        if rest == 0 { return unsafe out }
        // The last sixteen bytes at once, overlapping bytes that are already written. If all are clean, those were written
        // without escapes.
        let block = unsafe (source + (count &- 16)).block()
        if SpecialBytes.mask(block).isEmpty {
            unsafe (out + (rest &- 16)).put(block)
            return unsafe out + rest
        }
        return unsafe writeByBytes(source + index, rest, to: out)
    }

    /// Writes less than a block: as two overlapping words, or byte by byte.
    @inline(__always)
    private static func writeShort(
        _ source: UnsafePointer<UInt8>, _ count: Int, to target: UnsafeMutablePointer<UInt8>
    ) -> UnsafeMutablePointer<UInt8> {
        if count >= 8 {
            let first = unsafe source.word(as: UInt64.self)
            let last = unsafe (source + (count &- 8)).word(as: UInt64.self)
            if SpecialBytes.any(in: first) || SpecialBytes.any(in: last) {
                return unsafe writeByBytes(source, count, to: target)
            }
            unsafe target.put(first)
            unsafe (target + (count &- 8)).put(last)
            return unsafe target + count
        }
        if count >= 4 {
            let first = unsafe source.word(as: UInt32.self)
            let last = unsafe (source + (count &- 4)).word(as: UInt32.self)
            if SpecialBytes.any(in: UInt64(first) << 32 | UInt64(last)) {
                return unsafe writeByBytes(source, count, to: target)
            }
            unsafe target.put(first)
            unsafe (target + (count &- 4)).put(last)
            return unsafe target + count
        }
        return unsafe writeByBytes(source, count, to: target)
    }

    private static func writeByBytes(
        _ source: UnsafePointer<UInt8>, _ count: Int, to target: UnsafeMutablePointer<UInt8>
    ) -> UnsafeMutablePointer<UInt8> {
        var out = unsafe target
        for index in 0..<count {
            let byte = unsafe source[index]
            if SpecialBytes.contains(byte) {
                unsafe out = unsafe JSONEscape.writeSpecial(byte, to: out)
            } else {
                unsafe out[0] = byte
                unsafe out += 1
            }
        }
        return unsafe out
    }

    /// Returns the exact number of bytes that ``writeEscaped(_:_:to:)`` writes.
    static func escapedCount(_ source: UnsafePointer<UInt8>, _ count: Int) -> Int {
        var total = count
        var index = 0
        while index < count {
            if index &+ 16 <= count, unsafe SpecialBytes.mask((source + index).block()).isEmpty {
                index &+= 16
                continue
            }
            if unsafe SpecialBytes.contains(source[index]) {
                unsafe total &+= JSONEscape.writtenCount(UInt32(source[index])) &- 1
            }
            index &+= 1
        }
        return total
    }

    /// Returns text with its escapes. It allocates, and is not used for rows.
    static func escaped(_ text: [UInt8]) -> [UInt8] {
        unsafe text.withUnsafeBufferPointer { source in
            guard let start = source.baseAddress, !source.isEmpty else { return [] }
            return unsafe [UInt8](unsafeUninitializedCapacity: escapedCount(start, source.count)) { out, count in
                let target = unsafe out.baseAddress.unsafelyUnwrapped
                count = unsafe writeEscaped(start, source.count, to: target) - target
            }
        }
    }

    /// Writes the content of a JSON string that the scanner has validated, with its escapes in the shortest form.
    static func writeNormalised(
        _ source: UnsafePointer<UInt8>, _ count: Int, to target: UnsafeMutablePointer<UInt8>
    ) -> UnsafeMutablePointer<UInt8> {
        var out = unsafe target
        var index = 0
        while index < count {
            if unsafe source[index] == UInt8(ascii: "\\"),
                case .scalar(let scalar, let length) = unsafe JSONEscape.read(source + index, available: count &- index)
            {
                unsafe out = unsafe JSONEscape.write(scalar, to: out)
                index &+= length
            } else {
                unsafe out[0] = unsafe source[index]
                unsafe out += 1
                index &+= 1
            }
        }
        return unsafe out
    }
}

/// A backslash escape of a JSON string (RFC 8259 section 7), or two that form a surrogate pair.
enum JSONEscape {
    /// A character, and the length of its escape in bytes.
    case scalar(UInt32, length: Int)
    case fault(JSONFault)

    /// Reads the escape whose backslash is at `bytes`. `available` counts from that backslash to the end of the text.
    static func read(_ bytes: UnsafePointer<UInt8>, available: Int) -> JSONEscape {
        guard available >= 2 else { return .fault(.unterminatedString) }
        switch unsafe bytes[1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"):
            return unsafe .scalar(UInt32(bytes[1]), length: 2)
        case UInt8(ascii: "b"): return .scalar(0x08, length: 2)
        case UInt8(ascii: "f"): return .scalar(0x0C, length: 2)
        case UInt8(ascii: "n"): return .scalar(0x0A, length: 2)
        case UInt8(ascii: "r"): return .scalar(0x0D, length: 2)
        case UInt8(ascii: "t"): return .scalar(0x09, length: 2)
        case UInt8(ascii: "u"): return unsafe readUnicode(bytes, available: available)
        default: return .fault(.badEscape)
        }
    }

    private static func readUnicode(_ bytes: UnsafePointer<UInt8>, available: Int) -> JSONEscape {
        guard let first = unsafe codeUnit(bytes, available: available) else { return .fault(.badUnicodeEscape) }
        guard 0xD800..<0xE000 ~= first else { return .scalar(first, length: 6) }
        guard first < 0xDC00, available >= 8, unsafe bytes[6] == UInt8(ascii: "\\"),
            unsafe bytes[7] == UInt8(ascii: "u"),
            let second = unsafe codeUnit(bytes + 6, available: available - 6), 0xDC00..<0xE000 ~= second
        else { return .fault(.loneSurrogate) }
        return .scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00), length: 12)
    }

    /// Returns the value of the four hex digits after `\u`.
    private static func codeUnit(_ bytes: UnsafePointer<UInt8>, available: Int) -> UInt32? {
        guard available >= 6 else { return nil }
        var value: UInt32 = 0
        for index in 2..<6 {
            switch unsafe bytes[index] {
            case let digit where 0x30...0x39 ~= digit: value = value << 4 | UInt32(digit - 0x30)
            case let letter where 0x61...0x66 ~= letter | 0x20: value = value << 4 | UInt32((letter | 0x20) - 0x57)
            default: return nil
            }
        }
        return value
    }

    /// Returns the number of bytes that ``write(_:to:)`` writes for a character.
    static func writtenCount(_ scalar: UInt32) -> Int {
        switch scalar {
        case 0x08, 0x09, 0x0A, 0x0C, 0x0D, 0x22, 0x5C: return 2
        case 0..<0x20: return 6
        case 0..<0x80: return 1
        case 0..<0x800: return 2
        case 0..<0x10000: return 3
        default: return 4
        }
    }

    /// Writes a character in its shortest form: as UTF-8, and escaped only if the RFC requires it. Returns the address
    /// after it.
    static func write(_ scalar: UInt32, to target: UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8> {
        if scalar < 0x80 {
            let byte = UInt8(truncatingIfNeeded: scalar)
            if SpecialBytes.contains(byte) { return unsafe writeSpecial(byte, to: target) }
            unsafe target[0] = byte
            return unsafe target + 1
        }
        return unsafe writeUTF8(scalar, to: target)
    }

    /// Writes the escape of a byte in ``SpecialBytes``: two bytes if there is a short form, else six.
    static func writeSpecial(_ byte: UInt8, to target: UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8> {
        unsafe target[0] = UInt8(ascii: "\\")
        let short = shortForm(byte)
        if short != 0 {
            unsafe target[1] = short
            return unsafe target + 2
        }
        unsafe target[1] = UInt8(ascii: "u")
        unsafe target[2] = UInt8(ascii: "0")
        unsafe target[3] = UInt8(ascii: "0")
        unsafe target[4] = hexDigit(byte >> 4)
        unsafe target[5] = hexDigit(byte & 0x0F)
        return unsafe target + 6
    }

    /// Returns the letter of the short escape, 0 if there is none.
    @inline(__always)
    private static func shortForm(_ byte: UInt8) -> UInt8 {
        if byte > 0x0D { return byte < 0x20 ? 0 : byte }
        // The letters for 0x08 to 0x0D, from the lowest byte on: b, t, n, none, f, r.
        return UInt8(truncatingIfNeeded: (0x7266_006E_7462 as UInt64) >> (UInt64(byte &- 0x08) &* 8))
    }

    private static func hexDigit(_ nibble: UInt8) -> UInt8 { nibble &+ (nibble < 10 ? 0x30 : 0x57) }

    /// Writes a character as UTF-8 without escaping it, and returns the address after it.
    static func writeUTF8(_ scalar: UInt32, to target: UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8> {
        func tail(_ shift: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: scalar >> shift & 0x3F) | 0x80 }
        switch scalar {
        case 0..<0x80:
            unsafe target[0] = UInt8(truncatingIfNeeded: scalar)
            return unsafe target + 1
        case 0..<0x800:
            unsafe target[0] = UInt8(truncatingIfNeeded: scalar >> 6) | 0xC0
            unsafe target[1] = tail(0)
            return unsafe target + 2
        case 0..<0x10000:
            unsafe target[0] = UInt8(truncatingIfNeeded: scalar >> 12) | 0xE0
            unsafe target[1] = tail(6)
            unsafe target[2] = tail(0)
            return unsafe target + 3
        default:
            unsafe target[0] = UInt8(truncatingIfNeeded: scalar >> 18) | 0xF0
            unsafe target[1] = tail(12)
            unsafe target[2] = tail(6)
            unsafe target[3] = tail(0)
            return unsafe target + 4
        }
    }
}
