/// A value in a payload, as the rules see it.
@safe struct PayloadValue {
    enum Kind: UInt8 { case string, number, isTrue, isFalse, null, object, array }

    let kind: Kind
    /// For a string, the bytes between the quotes.
    let bytes: UnsafeRawBufferPointer

    init(_ kind: Kind, _ start: UnsafePointer<UInt8>, _ count: Int) {
        self.kind = kind
        unsafe bytes = unsafe UnsafeRawBufferPointer(start: start, count: count)
    }

    var isEmpty: Bool {
        switch kind {
        case .string: unsafe bytes.isEmpty
        case .object, .array: unsafe bytes.count <= 2
        default: false
        }
    }
}

/// What a cursor notes of the strings that it passes.
protocol CursorMode {
    static var looksAtTexts: Bool { get }
}

/// Nothing, as while sending.
enum PassingTexts: CursorMode {
    static var looksAtTexts: Bool { false }
}

/// Whether one of them is suspect, and whether there was a null.
enum LookingAtTexts: CursorMode {
    static var looksAtTexts: Bool { true }
}

/// Walks through a payload that was rendered or compacted, that is, valid JSON without white space. It relies on that for
/// speed, but not for safety: with any bytes it stays within bounds and terminates.
///
/// With the mode ``LookingAtTexts`` it also looks at every string, and for nulls, which only a check does.
///
/// It is a JSON reader beside ``JSONScanner`` and ``ShortestCopy``, one of which has already validated the payload. All rows
/// with their own payload are checked by it: a payload of 290 bytes takes 2,600 instructions here, and 5,300 with the strict
/// scanner.
@safe struct CompactCursor<Mode: CursorMode> {
    private(set) var at: UnsafePointer<UInt8>
    let end: UnsafePointer<UInt8>
    /// Whether a string was passed that ``SuspectText`` reports.
    private(set) var hasSuspectText = false
    /// Whether a null was passed.
    var hasNull = false
    /// Whether people may read the strings that are passed.
    var isShown = false

    init(_ bytes: UnsafeRawBufferPointer) {
        unsafe at = unsafe bytes.start
        unsafe end = unsafe at + bytes.count
    }

    /// The next byte; 0 at the end.
    @inline(__always)
    var byte: UInt8 { unsafe at < end ? at.pointee : 0 }

    /// Skips an opening brace or bracket.
    @inline(__always)
    mutating func open() { unsafe at += 1 }

    /// Skips the next member's name and returns it; returns nil at the end of the object.
    @inline(__always)
    mutating func nextKey() -> UnsafeRawBufferPointer? {
        if byte == UInt8(ascii: ",") { unsafe at += 1 }
        guard byte == UInt8(ascii: "\"") else {
            if unsafe at < end { unsafe at += 1 }
            return nil
        }
        let start = unsafe at + 1
        passStringBytes()
        let count = unsafe max(0, at - start - 1)
        if unsafe at < end { unsafe at += 1 }
        return unsafe UnsafeRawBufferPointer(start: start, count: count)
    }

    /// Whether another element follows in an array. Skips the closing bracket if not.
    @inline(__always)
    mutating func hasElement() -> Bool {
        if byte == UInt8(ascii: ",") { unsafe at += 1 }
        guard unsafe at < end, byte != UInt8(ascii: "]") else {
            if unsafe at < end { unsafe at += 1 }
            return false
        }
        return true
    }

    /// Skips a value and returns it.
    @inline(__always)
    mutating func value() -> PayloadValue {
        let start = unsafe at
        switch byte {
        case UInt8(ascii: "\""):
            passString()
            return unsafe PayloadValue(.string, start + 1, max(0, at - start - 2))
        case UInt8(ascii: "{"):
            passContainer()
            return unsafe PayloadValue(.object, start, at - start)
        case UInt8(ascii: "["):
            passContainer()
            return unsafe PayloadValue(.array, start, at - start)
        default: return scalar()
        }
    }

    @inline(__always)
    private mutating func scalar() -> PayloadValue {
        let start = unsafe at
        // At least one byte, so that every loop over values ends.
        if unsafe at < end { unsafe at += 1 }
        while unsafe at < end, unsafe at.pointee != UInt8(ascii: ","), unsafe at.pointee | 0x20 != UInt8(ascii: "}") {
            unsafe at += 1
        }
        let kind: PayloadValue.Kind =
            switch unsafe start < end ? start.pointee : 0 {
            case UInt8(ascii: "t"): .isTrue
            case UInt8(ascii: "f"): .isFalse
            case UInt8(ascii: "n"): .null
            default: .number
            }
        if Mode.looksAtTexts, kind == .null { hasNull = true }
        return unsafe PayloadValue(kind, start, at - start)
    }

    /// Skips a string. The cursor must be at its opening quote.
    @inline(__always)
    private mutating func passString() {
        let start = unsafe at + 1
        passStringBytes()
        // A colon follows a key, which is no text.
        if Mode.looksAtTexts, byte != UInt8(ascii: ":"), unsafe Self.isSuspect(start, max(0, at - start - 1), isShown) {
            hasSuspectText = true
        }
    }

    // Not inlined, and of values only, so that the cursor stays in registers.
    @inline(never)
    private static func isSuspect(_ start: UnsafePointer<UInt8>, _ count: Int, _ isShown: Bool) -> Bool {
        let text = unsafe UnsafeRawBufferPointer(start: start, count: count)
        return unsafe SuspectText.isHeld(in: text, SuspectText.Setting(isShown: isShown, isJSON: true))
    }

    @inline(__always)
    private mutating func passStringBytes() {
        unsafe at += 1
        while unsafe at < end {
            if unsafe end - at >= 16 {
                let block = unsafe at.block()
                let hit =
                    ((block .== Bytes16(repeating: UInt8(ascii: "\"")))
                    .| (block .== Bytes16(repeating: UInt8(ascii: "\\")))).firstIndex
                unsafe at += hit
                if hit == 16 { continue }
            }
            switch unsafe at.pointee {
            case UInt8(ascii: "\""):
                unsafe at += 1
                return
            case UInt8(ascii: "\\"): unsafe at += min(2, end - at)
            default: unsafe at += 1
            }
        }
    }

    /// Skips an object or array with its content.
    private mutating func passContainer() {
        var depth = 0
        while unsafe at < end {
            let byte = unsafe at.pointee
            if byte == UInt8(ascii: "\"") {
                passString()
                continue
            }
            unsafe at += 1
            if Mode.looksAtTexts, byte == UInt8(ascii: "n") { hasNull = true }
            // Brackets differ from braces by one bit.
            if byte | 0x20 == UInt8(ascii: "{") { depth += 1 }
            if byte | 0x20 == UInt8(ascii: "}") {
                depth -= 1
                if depth <= 0 { return }
            }
        }
    }
}
