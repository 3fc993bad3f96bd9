/// A value of a payload, as far as the rules look at it.
struct PayloadValue {
    enum Kind: UInt8 { case string, number, isTrue, isFalse, null, object, array }

    let kind: Kind
    /// For a string what stands between the quotes.
    let bytes: UnsafeRawBufferPointer

    init(_ kind: Kind, _ start: UnsafePointer<UInt8>, _ count: Int) {
        self.kind = kind
        bytes = UnsafeRawBufferPointer(start: start, count: count)
    }

    var isEmpty: Bool {
        switch kind {
        case .string: bytes.isEmpty
        case .object, .array: bytes.count <= 2
        default: false
        }
    }
}

/// Walks a payload that was rendered or compacted: valid JSON without white space. It relies on that for speed, but not
/// for safety: whatever the bytes are, it reads none outside them and comes to an end.
///
/// It is the one reader of JSON beside ``JSONScanner``, because rows that bring their own payload are all walked: a payload
/// of 290 bytes takes 2,600 instructions here and 5,300 with the strict scanner, which has seen it already.
struct CompactCursor {
    private(set) var at: UnsafePointer<UInt8>
    let end: UnsafePointer<UInt8>

    init(_ bytes: UnsafeRawBufferPointer) {
        let address = bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped
        at = address.assumingMemoryBound(to: UInt8.self)
        end = at + bytes.count
    }

    /// The next byte, 0 at the end.
    @inline(__always)
    var byte: UInt8 { at < end ? at.pointee : 0 }

    /// Passes an opening brace or bracket.
    @inline(__always)
    mutating func open() { at += 1 }

    /// Passes the next member's name; nil when the object has been closed.
    @inline(__always)
    mutating func nextKey() -> UnsafeRawBufferPointer? {
        if byte == UInt8(ascii: ",") { at += 1 }
        guard byte == UInt8(ascii: "\"") else {
            if at < end { at += 1 }
            return nil
        }
        let start = at + 1
        passString()
        let count = max(0, at - start - 1)
        if at < end { at += 1 }
        return UnsafeRawBufferPointer(start: start, count: count)
    }

    /// Whether an element follows; false when the array has been closed.
    @inline(__always)
    mutating func hasElement() -> Bool {
        if byte == UInt8(ascii: ",") { at += 1 }
        guard at < end, byte != UInt8(ascii: "]") else {
            if at < end { at += 1 }
            return false
        }
        return true
    }

    /// Passes a value of any kind.
    @inline(__always)
    mutating func value() -> PayloadValue {
        let start = at
        switch byte {
        case UInt8(ascii: "\""):
            passString()
            return PayloadValue(.string, start + 1, max(0, at - start - 2))
        case UInt8(ascii: "{"):
            passContainer()
            return PayloadValue(.object, start, at - start)
        case UInt8(ascii: "["):
            passContainer()
            return PayloadValue(.array, start, at - start)
        default: return scalar()
        }
    }

    @inline(__always)
    private mutating func scalar() -> PayloadValue {
        let start = at
        // One byte at least, so that every loop over values ends.
        if at < end { at += 1 }
        while at < end, at.pointee != UInt8(ascii: ","), at.pointee | 0x20 != UInt8(ascii: "}") { at += 1 }
        let kind: PayloadValue.Kind =
            switch start < end ? start.pointee : 0 {
            case UInt8(ascii: "t"): .isTrue
            case UInt8(ascii: "f"): .isFalse
            case UInt8(ascii: "n"): .null
            default: .number
            }
        return PayloadValue(kind, start, at - start)
    }

    /// Passes a string; the cursor is at its opening quote.
    @inline(__always)
    private mutating func passString() {
        at += 1
        while at < end {
            if end - at >= 16 {
                let block = at.block()
                let hit =
                    ((block .== Bytes16(repeating: UInt8(ascii: "\"")))
                    .| (block .== Bytes16(repeating: UInt8(ascii: "\\")))).firstIndex
                at += hit
                if hit == 16 { continue }
            }
            switch at.pointee {
            case UInt8(ascii: "\""):
                at += 1
                return
            case UInt8(ascii: "\\"): at += min(2, end - at)
            default: at += 1
            }
        }
    }

    /// Passes an object or array with all that is in it.
    private mutating func passContainer() {
        var depth = 0
        while at < end {
            let byte = at.pointee
            if byte == UInt8(ascii: "\"") {
                passString()
                continue
            }
            at += 1
            // Brackets are braces but for one bit.
            if byte | 0x20 == UInt8(ascii: "{") { depth += 1 }
            if byte | 0x20 == UInt8(ascii: "}") {
                depth -= 1
                if depth <= 0 { return }
            }
        }
    }
}
