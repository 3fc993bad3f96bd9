/// Text on its way into a JSON string. Nothing here adds the quotes around it.
enum JSONString {
    /// No byte of text becomes more than `\u00xx`.
    static let growthMax = 6

    /// Writes text with the escapes that RFC 8259 demands and no other; returns the byte after it.
    ///
    /// Writes exactly ``escapedCount(_:_:)`` bytes and touches none after them: what is stored in blocks of sixteen is
    /// never more than what the same source bytes need when they are escaped. Bytes that are not UTF-8 pass unchanged.
    static func writeEscaped(
        _ source: UnsafePointer<UInt8>, _ count: Int, to target: UnsafeMutablePointer<UInt8>
    ) -> UnsafeMutablePointer<UInt8> {
        if count < 16 { return writeShort(source, count, to: target) }
        var out = target
        var index = 0
        while index &+ 16 <= count {
            let block = (source + index).block()
            out.put(block)
            let clean = SpecialBytes.mask(block).firstIndex
            index &+= clean
            out += clean
            if clean < 16 {
                out = JSONEscape.writeSpecial(source[index], to: out)
                index &+= 1
            }
        }
        let rest = count &- index
        if rest == 0 { return out }
        // The last sixteen bytes at once, over some that are written already: where all are clean, those stand
        // unescaped.
        let block = (source + (count &- 16)).block()
        if SpecialBytes.mask(block).isEmpty {
            (out + (rest &- 16)).put(block)
            return out + rest
        }
        return writeByBytes(source + index, rest, to: out)
    }

    /// Less than a block: two overlapping words, or bytes.
    @inline(__always)
    private static func writeShort(
        _ source: UnsafePointer<UInt8>, _ count: Int, to target: UnsafeMutablePointer<UInt8>
    ) -> UnsafeMutablePointer<UInt8> {
        if count >= 8 {
            let first = source.word(as: UInt64.self)
            let last = (source + (count &- 8)).word(as: UInt64.self)
            if SpecialBytes.any(in: first) || SpecialBytes.any(in: last) {
                return writeByBytes(source, count, to: target)
            }
            target.put(first)
            (target + (count &- 8)).put(last)
            return target + count
        }
        if count >= 4 {
            let first = source.word(as: UInt32.self)
            let last = (source + (count &- 4)).word(as: UInt32.self)
            if SpecialBytes.any(in: UInt64(first) << 32 | UInt64(last)) {
                return writeByBytes(source, count, to: target)
            }
            target.put(first)
            (target + (count &- 4)).put(last)
            return target + count
        }
        return writeByBytes(source, count, to: target)
    }

    private static func writeByBytes(
        _ source: UnsafePointer<UInt8>, _ count: Int, to target: UnsafeMutablePointer<UInt8>
    ) -> UnsafeMutablePointer<UInt8> {
        var out = target
        for index in 0..<count {
            let byte = source[index]
            if SpecialBytes.contains(byte) {
                out = JSONEscape.writeSpecial(byte, to: out)
            } else {
                out[0] = byte
                out += 1
            }
        }
        return out
    }

    /// The exact number of bytes that ``writeEscaped(_:_:to:)`` writes.
    static func escapedCount(_ source: UnsafePointer<UInt8>, _ count: Int) -> Int {
        var total = count
        var index = 0
        while index < count {
            if index &+ 16 <= count, SpecialBytes.mask((source + index).block()).isEmpty {
                index &+= 16
                continue
            }
            if SpecialBytes.contains(source[index]) { total &+= JSONEscape.writtenCount(UInt32(source[index])) &- 1 }
            index &+= 1
        }
        return total
    }

    /// Text with its escapes, away from the way of a row.
    static func escaped(_ text: [UInt8]) -> [UInt8] {
        text.withUnsafeBufferPointer { source in
            guard let start = source.baseAddress, !source.isEmpty else { return [] }
            return [UInt8](unsafeUninitializedCapacity: escapedCount(start, source.count)) { out, count in
                let target = out.baseAddress.unsafelyUnwrapped
                count = writeEscaped(start, source.count, to: target) - target
            }
        }
    }

    /// Writes the inside of a JSON string that the scanner has passed, its escapes brought to the shortest form.
    static func writeNormalised(
        _ source: UnsafePointer<UInt8>, _ count: Int, to target: UnsafeMutablePointer<UInt8>
    ) -> UnsafeMutablePointer<UInt8> {
        var out = target
        var index = 0
        while index < count {
            if source[index] == UInt8(ascii: "\\"),
                case .scalar(let scalar, let length) = JSONEscape.read(source + index, available: count &- index)
            {
                out = JSONEscape.write(scalar, to: out)
                index &+= length
            } else {
                out[0] = source[index]
                out += 1
                index &+= 1
            }
        }
        return out
    }
}

/// One backslash escape of a JSON string (RFC 8259, section 7), or the joined pair of two that stand for surrogates.
enum JSONEscape {
    /// - scalar: the character that it stands for, and how many bytes of the source it takes.
    case scalar(UInt32, length: Int)
    case fault(JSONFault)

    /// Reads the escape whose backslash is at `bytes`; `available` counts from that backslash to the end of the text.
    static func read(_ bytes: UnsafePointer<UInt8>, available: Int) -> JSONEscape {
        guard available >= 2 else { return .fault(.unterminatedString) }
        switch bytes[1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return .scalar(UInt32(bytes[1]), length: 2)
        case UInt8(ascii: "b"): return .scalar(0x08, length: 2)
        case UInt8(ascii: "f"): return .scalar(0x0C, length: 2)
        case UInt8(ascii: "n"): return .scalar(0x0A, length: 2)
        case UInt8(ascii: "r"): return .scalar(0x0D, length: 2)
        case UInt8(ascii: "t"): return .scalar(0x09, length: 2)
        case UInt8(ascii: "u"): return readUnicode(bytes, available: available)
        default: return .fault(.badEscape)
        }
    }

    private static func readUnicode(_ bytes: UnsafePointer<UInt8>, available: Int) -> JSONEscape {
        guard let first = codeUnit(bytes, available: available) else { return .fault(.badUnicodeEscape) }
        guard 0xD800..<0xE000 ~= first else { return .scalar(first, length: 6) }
        guard first < 0xDC00, available >= 8, bytes[6] == UInt8(ascii: "\\"), bytes[7] == UInt8(ascii: "u"),
            let second = codeUnit(bytes + 6, available: available - 6), 0xDC00..<0xE000 ~= second
        else { return .fault(.loneSurrogate) }
        return .scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00), length: 12)
    }

    /// The value of the four hex digits after `\u`.
    private static func codeUnit(_ bytes: UnsafePointer<UInt8>, available: Int) -> UInt32? {
        guard available >= 6 else { return nil }
        var value: UInt32 = 0
        for index in 2..<6 {
            switch bytes[index] {
            case let digit where 0x30...0x39 ~= digit: value = value << 4 | UInt32(digit - 0x30)
            case let letter where 0x61...0x66 ~= letter | 0x20: value = value << 4 | UInt32((letter | 0x20) - 0x57)
            default: return nil
            }
        }
        return value
    }

    /// Bytes that ``write(_:to:)`` needs for a character.
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

    /// Writes a character the shortest way: UTF-8, and an escape only where the RFC demands one. Returns the byte after
    /// it.
    static func write(_ scalar: UInt32, to target: UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8> {
        if scalar < 0x80 {
            let byte = UInt8(truncatingIfNeeded: scalar)
            if SpecialBytes.contains(byte) { return writeSpecial(byte, to: target) }
            target[0] = byte
            return target + 1
        }
        return writeUTF8(scalar, to: target)
    }

    /// Writes the escape of a byte that ``SpecialBytes`` contains: two bytes where a short form exists, six else.
    static func writeSpecial(_ byte: UInt8, to target: UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8> {
        target[0] = UInt8(ascii: "\\")
        let short = shortForm(byte)
        if short != 0 {
            target[1] = short
            return target + 2
        }
        target[1] = UInt8(ascii: "u")
        target[2] = UInt8(ascii: "0")
        target[3] = UInt8(ascii: "0")
        target[4] = hexDigit(byte >> 4)
        target[5] = hexDigit(byte & 0x0F)
        return target + 6
    }

    /// The letter of the short escape, 0 if there is none.
    @inline(__always)
    private static func shortForm(_ byte: UInt8) -> UInt8 {
        if byte > 0x0D { return byte < 0x20 ? 0 : byte }
        // Letters for 0x08 to 0x0D, from the lowest byte on: b, t, n, none, f, r.
        return UInt8(truncatingIfNeeded: (0x7266_006E_7462 as UInt64) >> (UInt64(byte &- 0x08) &* 8))
    }

    private static func hexDigit(_ nibble: UInt8) -> UInt8 { nibble &+ (nibble < 10 ? 0x30 : 0x57) }

    /// Writes a character as UTF-8, unescaped, and returns the byte after it.
    static func writeUTF8(_ scalar: UInt32, to target: UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8> {
        func tail(_ shift: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: scalar >> shift & 0x3F) | 0x80 }
        switch scalar {
        case 0..<0x80:
            target[0] = UInt8(truncatingIfNeeded: scalar)
            return target + 1
        case 0..<0x800:
            target[0] = UInt8(truncatingIfNeeded: scalar >> 6) | 0xC0
            target[1] = tail(0)
            return target + 2
        case 0..<0x10000:
            target[0] = UInt8(truncatingIfNeeded: scalar >> 12) | 0xE0
            target[1] = tail(6)
            target[2] = tail(0)
            return target + 3
        default:
            target[0] = UInt8(truncatingIfNeeded: scalar >> 18) | 0xF0
            target[1] = tail(12)
            target[2] = tail(6)
            target[3] = tail(0)
            return target + 4
        }
    }
}
