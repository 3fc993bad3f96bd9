/// The escapes of JSON strings (RFC 8259, section 7).
enum JSONEscape {
    /// Returns the length of the escape that begins with the backslash at `bytes`, in bytes; that of both halves of a surrogate pair. Returns 0
    /// if it is not an escape, or stands for NUL.
    @inline(__always)
    static func length(_ bytes: UnsafePointer<UInt8>) -> Int {
        switch unsafe bytes[1] {
        case Byte.quote, UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return 2
        case UInt8(ascii: "u"): return unsafe lengthOfUnicode(bytes)
        default: return 0
        }
    }

    private static func lengthOfUnicode(_ bytes: UnsafePointer<UInt8>) -> Int {
        guard let first = unsafe codeUnit(bytes + 2), first != 0 else { return 0 }
        guard 0xD800..<0xE000 ~= first else { return 6 }
        guard first < 0xDC00, unsafe bytes[6] == UInt8(ascii: "\\"), unsafe bytes[7] == UInt8(ascii: "u"),
            let second = unsafe codeUnit(bytes + 8), 0xDC00..<0xE000 ~= second
        else { return 0 }
        return 12
    }

    /// Returns why the backslash at `bytes` does not begin an escape.
    static func fault(_ bytes: UnsafePointer<UInt8>) -> RowError.JSONCause {
        guard unsafe bytes[1] == UInt8(ascii: "u"), let value = unsafe codeUnit(bytes + 2) else { return .badEscape }
        return value == 0 ? .escapedNUL : .loneSurrogate
    }

    /// Returns the value of four hex digits; nil if one of the bytes is not a digit. It reads no byte after the first that is not.
    private static func codeUnit(_ digits: UnsafePointer<UInt8>) -> UInt32? {
        var value: UInt32 = 0
        for index in 0..<4 {
            switch unsafe digits[index] {
            case let digit where digit &- UInt8(ascii: "0") < 10: value = value << 4 | UInt32(digit & 0x0F)
            case let digit where (digit | 0x20) &- UInt8(ascii: "a") < 6: value = value << 4 | UInt32(digit & 0x0F + 9)
            default: return nil
            }
        }
        return value
    }

    /// Replaces the escapes in a string's own bytes, where the caller may write: fields are read-only views. No escape is shorter than
    /// what it stands for.
    ///
    /// - Parameter content: the bytes of a string whose escapes all have a length, without its quotes, which stand around it.
    /// - Returns: the same memory, shorter.
    static func replace(in content: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        guard let base = content.baseAddress else { return unsafe content }
        let bytes = unsafe UnsafeMutablePointer(mutating: base.assumingMemoryBound(to: UInt8.self))
        // The first special byte is a backslash, or the closing quote.
        var source = unsafe Bytes16.special(bytes, from: 0)
        var target = source
        while source < content.count {
            let byte = unsafe bytes[source]
            if byte != UInt8(ascii: "\\") {
                unsafe bytes[target] = byte
                (source, target) = (source &+ 1, target &+ 1)
            } else if unsafe bytes[source &+ 1] == UInt8(ascii: "u") {
                let (scalar, length) = unsafe readUnicode(bytes + source)
                source &+= length
                target &+= unsafe write(scalar, to: bytes + target)
            } else {
                unsafe bytes[target] = character(bytes[source &+ 1])
                (source, target) = (source &+ 2, target &+ 1)
            }
        }
        return unsafe UnsafeRawBufferPointer(start: base, count: target)
    }

    /// Whether a key that has escapes is a name.
    static func equal(_ key: UnsafeRawBufferPointer, _ name: UnsafeRawBufferPointer) -> Bool {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: key.count + 16, alignment: 1)
        defer { unsafe copy.deallocate() }
        unsafe copy.initializeMemory(as: UInt8.self, repeating: Byte.quote)
        unsafe copy.copyMemory(from: key)
        let text = unsafe replace(in: UnsafeRawBufferPointer(rebasing: copy[..<key.count]))
        return unsafe text.elementsEqual(name)
    }

    /// Returns the text of a key.
    ///
    /// - Parameter isEscaped: whether it has escapes, which all have a length.
    static func text(_ key: [UInt8], isEscaped: Bool) -> String {
        guard isEscaped else { return String(decoding: key, as: UTF8.self) }
        var copy = key + [UInt8](repeating: Byte.quote, count: ByteBlock.slack)
        return unsafe copy.withUnsafeMutableBytes { copy in
            let content = unsafe UnsafeRawBufferPointer(rebasing: copy[..<key.count])
            return unsafe String(decoding: replace(in: content), as: UTF8.self)
        }
    }

    /// Returns the character of an escape of one letter or sign.
    @inline(__always)
    private static func character(_ letter: UInt8) -> UInt8 {
        switch letter {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: letter
        }
    }

    /// Returns the character of an escape with digits, and its length in bytes.
    private static func readUnicode(_ bytes: UnsafePointer<UInt8>) -> (scalar: UInt32, length: Int) {
        let first = unsafe codeUnit(bytes + 2) ?? 0xFFFD
        guard 0xD800..<0xDC00 ~= first, let second = unsafe codeUnit(bytes + 8) else { return (first, 6) }
        return (0x10000 &+ (first &- 0xD800) << 10 &+ (second &- 0xDC00), 12)
    }

    /// Writes a character as UTF-8, and returns the number of bytes.
    private static func write(_ scalar: UInt32, to target: UnsafeMutablePointer<UInt8>) -> Int {
        guard let scalar = Unicode.Scalar(scalar), let encoded = UTF8.encode(scalar) else { return 0 }
        var count = 0
        for byte in encoded {
            unsafe target[count] = byte
            count &+= 1
        }
        return count
    }
}
