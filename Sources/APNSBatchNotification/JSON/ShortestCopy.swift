/// Copies an object whose JSON text is in its shortest form, apart from white space between tokens, as the text of most rows
/// is: in runs, and without a look at each token by itself. What it does not copy is for ``JSONScanner``, which also finds the
/// cause.
///
/// With any bytes it stays within bounds and terminates. It takes half the instructions of the scanner.
@safe struct ShortestCopy {
    private var at: UnsafePointer<UInt8>
    private let end: UnsafePointer<UInt8>
    /// The first byte that was not copied.
    private var run: UnsafePointer<UInt8>
    private var out: UnsafeMutablePointer<UInt8>

    /// Copies a text. Returns the address after the copy; nil if the text is not an object, not strict JSON, too deep, or if a
    /// string of it can be written in fewer bytes.
    ///
    /// - Parameter target: has room for the text, does not overlap it, and is changed even without a result.
    @inline(__always)
    static func copy(
        _ text: UnsafeRawBufferPointer, to target: UnsafeMutablePointer<UInt8>
    ) -> UnsafeMutablePointer<UInt8>? {
        var copy = unsafe ShortestCopy(text, target)
        copy.skipBlanks()
        guard copy.byte == UInt8(ascii: "{"), copy.passValue() else { return nil }
        copy.skipBlanks()
        return unsafe copy.at == copy.end ? copy.out.copying(copy.run, copy.at - copy.run) : nil
    }

    private init(_ text: UnsafeRawBufferPointer, _ target: UnsafeMutablePointer<UInt8>) {
        unsafe at = unsafe text.start
        unsafe end = unsafe at + text.count
        unsafe run = unsafe at
        unsafe out = unsafe target
    }

    /// The next byte; 0 at the end.
    @inline(__always)
    private var byte: UInt8 { unsafe at < end ? at.pointee : 0 }

    /// Moves past `byte` if it is next, and returns whether it was.
    @inline(__always)
    private mutating func take(_ byte: UInt8) -> Bool {
        guard self.byte == byte else { return false }
        unsafe at += 1
        return true
    }

    @inline(__always)
    private mutating func skipBlanks() {
        guard unsafe at < end, unsafe at.pointee <= 0x20 else { return }
        leaveOutBlanks()
    }

    @inline(never)
    private mutating func leaveOutBlanks() {
        unsafe out = unsafe out.copying(run, at - run)
        while byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { unsafe at += 1 }
        unsafe run = unsafe at
    }

    /// Moves past a value with all that is in it.
    @inline(__always)
    private mutating func passValue() -> Bool {
        // One bit for each open level, set for an object.
        var (objects, depth): (UInt64, Int) = (0, 0)
        while true {
            skipBlanks()
            let first = byte
            if first == UInt8(ascii: "\"") {
                guard passString() else { return false }
            } else if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
                guard depth < JSONScanner.depthLimit else { return false }
                let isObject = first == UInt8(ascii: "{")
                (objects, depth) = (objects << 1 | (isObject ? 1 : 0), depth &+ 1)
                unsafe at += 1
                skipBlanks()
                if !isClosing(objects) {
                    if isObject, !passKey() { return false }
                    continue
                }
            } else {
                guard passScalar() else { return false }
            }
            // After a value, or before the end of an empty one.
            while depth > 0 {
                skipBlanks()
                if isClosing(objects) {
                    unsafe at += 1
                    (objects, depth) = (objects >> 1, depth &- 1)
                    continue
                }
                guard take(UInt8(ascii: ",")) else { return false }
                if objects & 1 != 0 {
                    skipBlanks()
                    guard passKey() else { return false }
                }
                break
            }
            if depth == 0 { return true }
        }
    }

    /// Whether the next byte ends the innermost level.
    @inline(__always)
    private func isClosing(_ objects: UInt64) -> Bool {
        byte == (objects & 1 != 0 ? UInt8(ascii: "}") : UInt8(ascii: "]"))
    }

    @inline(__always)
    private mutating func passKey() -> Bool {
        guard byte == UInt8(ascii: "\""), passString() else { return false }
        skipBlanks()
        return take(UInt8(ascii: ":"))
    }

    /// Moves past a string. The next byte must be its opening quote.
    @inline(__always)
    private mutating func passString() -> Bool {
        unsafe at += 1
        let start = unsafe at
        var high: UInt64 = 0
        while true {
            unsafe at = unsafe SpecialBytes.first(from: at, end: end, &high)
            if take(UInt8(ascii: "\"")) { break }
            guard byte == UInt8(ascii: "\\"), passEscape() else { return false }
        }
        return unsafe high & 0x8080_8080_8080_8080 == 0
            || UTF8Check.firstFault(in: start, count: at - start &- 1) == nil
    }

    /// Moves past an escape that has no shorter form.
    private mutating func passEscape() -> Bool {
        guard unsafe end - at >= 2 else { return false }
        switch unsafe at[1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"),
            UInt8(ascii: "r"), UInt8(ascii: "t"):
            unsafe at += 2
            return true
        default: return false
        }
    }

    /// Moves past a number, `true`, `false` or `null`.
    @inline(never)
    private mutating func passScalar() -> Bool {
        var length = unsafe JSONNumber.length(at, available: end - at)
        if length == 0 { length = unsafe JSONLiteral.length(at, available: end - at) }
        guard length > 0 else { return false }
        unsafe at += length
        return !JSONScanner.isWordByte(byte)
    }
}
