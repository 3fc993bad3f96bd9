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
