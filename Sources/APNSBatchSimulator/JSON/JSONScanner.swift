/// A strict reader of JSON text (RFC 8259) over bytes. It makes one pass, builds no tree and allocates no memory.
///
/// A value is checked by `value()`, which moves after it and returns its kind, its text and whether it is empty. A caller that
/// needs the members of an object opens it with `openObject()` and reads them with `members()`.
///
/// In addition to violations of the grammar, a byte order mark, invalid UTF-8, and an escaped lone surrogate are
/// errors, because no UTF-8 text could represent the latter. The depth of nesting is only limited by the length of the
/// longest payload.
@safe struct JSONScanner: ~Copyable {
    /// The next byte to read.
    var at: UnsafePointer<UInt8>
    let end: UnsafePointer<UInt8>
    /// Whether white space outside strings was found.
    var sawBlanks = false
    /// One bit for each open container, which is set for an object. A container has at least two bytes, including its
    /// end, so this is enough for ``PushType/payloadMaximumOfAll``.
    private var objects = InlineArray<40, UInt64>(repeating: 0)

    /// - Parameter text: borrowed during the lifetime of the scanner.
    init(_ text: Bytes) {
        // An empty text may have no address, and is not dereferenced then.
        let start = unsafe text.baseAddress ?? UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped
        unsafe at = unsafe start.assumingMemoryBound(to: UInt8.self)
        unsafe end = unsafe at + text.count
    }

    /// Returns whether only white space is left.
    mutating func isAtEnd() -> Bool {
        skipBlanks()
        return unsafe at == end
    }

    @inline(__always)
    mutating func skipBlanks() {
        while unsafe at < end, unsafe at.pointee <= 0x20 {
            switch unsafe at.pointee {
            case 0x20, 0x0A, 0x0D, 0x09:
                sawBlanks = true
                unsafe at += 1
            default: return
            }
        }
    }

    /// Moves past `byte` if it is next, and returns whether it was.
    @inline(__always)
    mutating func take(_ byte: UInt8) -> Bool {
        guard unsafe at < end, unsafe at.pointee == byte else { return false }
        unsafe at += 1
        return true
    }

    /// Checks the next value, including white space before it, and moves to the byte after it.
    mutating func value() -> JSONValue {
        skipBlanks()
        guard unsafe at < end else { return .invalid }
        switch unsafe at.pointee {
        case UInt8(ascii: "\""):
            let text = string()
            guard text.isValid else { return .invalid }
            return JSONValue(kind: .string, text: text)
        case UInt8(ascii: "{"): return container(isObject: true)
        case UInt8(ascii: "["): return container(isObject: false)
        case UInt8(ascii: "t"): return literal("true", .true)
        case UInt8(ascii: "f"): return literal("false", .false)
        case UInt8(ascii: "n"): return literal("null", .null)
        default:
            let start = unsafe at
            guard number() else { return .invalid }
            return unsafe JSONValue(kind: .number, text: JSONText(start: start, end: at))
        }
    }

    private mutating func literal(_ word: StaticString, _ kind: JSONKind) -> JSONValue {
        guard unsafe Bytes(start: at, count: end - at).begins(with: word) else { return .invalid }
        let start = unsafe at
        unsafe at += word.utf8CodeUnitCount
        return unsafe JSONValue(kind: kind, text: JSONText(start: start, end: at))
    }

    private mutating func container(isObject: Bool) -> JSONValue {
        let start = unsafe at
        unsafe at += 1
        skipBlanks()
        if take(closing(isObject)) {
            return unsafe JSONValue(
                kind: isObject ? .object : .array, text: JSONText(start: start, end: at), isEmpty: true)
        }
        guard skipMembers(isObject: isObject) else { return .invalid }
        return unsafe JSONValue(kind: isObject ? .object : .array, text: JSONText(start: start, end: at))
    }

    @inline(__always)
    private func closing(_ isObject: Bool) -> UInt8 {
        isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
    }

    /// Moves from the first byte in a container that is not empty to the byte after its end. It is not recursive,
    /// because input of a peer must not determine the depth of the stack.
    private mutating func skipMembers(isObject outermost: Bool) -> Bool {
        var isObject = outermost
        var depth = 0
        while true {
            // A member or an element begins here.
            if isObject {
                guard memberName().isValid else { return false }
            }
            skipBlanks()
            guard unsafe at < end else { return false }
            if unsafe at.pointee == UInt8(ascii: "{") || at.pointee == UInt8(ascii: "[") {
                let inner = unsafe at.pointee == UInt8(ascii: "{")
                unsafe at += 1
                skipBlanks()
                if !take(closing(inner)) {
                    guard depth < objects.count * 64 else { return false }
                    note(isObject, at: depth)
                    depth += 1
                    isObject = inner
                    continue
                }
            } else {
                guard value().isValid else { return false }
            }
            // After a value, there is a comma, or the end of this container and possibly of outer ones.
            while true {
                skipBlanks()
                if take(UInt8(ascii: ",")) { break }
                guard take(closing(isObject)) else { return false }
                guard depth > 0 else { return true }
                depth -= 1
                isObject = objects[depth >> 6] >> UInt64(depth & 63) & 1 == 1
            }
        }
    }

    private mutating func note(_ isObject: Bool, at depth: Int) {
        let bit: UInt64 = 1 << UInt64(depth & 63)
        if isObject { objects[depth >> 6] |= bit } else { objects[depth >> 6] &= ~bit }
    }
}

/// A valid value.
struct JSONValue {
    var kind: JSONKind
    /// The bytes of the value. For a string, these are the bytes between the quotation marks.
    var text: JSONText
    /// Whether the value is an empty string, object or array.
    var isEmpty: Bool

    static var invalid: JSONValue { JSONValue(kind: .invalid, text: .invalid, isEmpty: true) }

    @inline(__always) var isValid: Bool { kind != .invalid }

    @inline(__always)
    init(kind: JSONKind, text: JSONText) {
        unsafe self.init(kind: kind, text: text, isEmpty: text.start == text.end)
    }

    @inline(__always)
    init(kind: JSONKind, text: JSONText, isEmpty: Bool) {
        self.kind = kind
        self.text = text
        self.isEmpty = isEmpty
    }
}

/// The kinds of values in RFC 8259, section 3, with separate kinds for the two Booleans. `invalid` is none of them.
enum JSONKind: UInt8 {
    case invalid, object, array, string, number, `true`, `false`, null
}

extension JSONScanner {
    /// Moves into the next object. Returns false if the next value is not an object.
    @inline(__always)
    mutating func openObject() -> Bool {
        skipBlanks()
        return take(UInt8(ascii: "{"))
    }

    /// Reads a member's name and its colon, including white space around them.
    @inline(__always)
    mutating func memberName() -> JSONText {
        skipBlanks()
        let name = string()
        skipBlanks()
        guard name.isValid, take(UInt8(ascii: ":")) else { return .invalid }
        return name
    }

    /// Reads the members of the object opened last. `read` is called after each name and reads the value.
    ///
    /// Returns false when the text is not JSON, and when `read` has returned false.
    @inline(__always)
    mutating func members(_ read: (inout JSONScanner, JSONText) -> Bool) -> Bool {
        skipBlanks()
        if take(UInt8(ascii: "}")) { return true }
        while true {
            let name = memberName()
            guard name.isValid, read(&self, name) else { return false }
            skipBlanks()
            if take(UInt8(ascii: "}")) { return true }
            guard take(UInt8(ascii: ",")) else { return false }
        }
    }

    /// Likewise, with values that need no further reading.
    @inline(__always)
    mutating func memberValues(_ note: (JSONText, JSONValue) -> Void) -> Bool {
        members { scanner, name in
            let value = scanner.value()
            if value.isValid { note(name, value) }
            return value.isValid
        }
    }

    /// Reads a text that is an object, and calls `note` for each member. Returns false if it is not an object.
    static func members(of text: Bytes, _ note: (JSONText, JSONValue) -> Void) -> Bool {
        var scanner = unsafe JSONScanner(text)
        return scanner.openObject() && scanner.memberValues(note) && scanner.isAtEnd()
    }

    /// Moves into the next array. Returns false if the next value is not an array.
    @inline(__always)
    mutating func openArray() -> Bool {
        skipBlanks()
        return take(UInt8(ascii: "["))
    }

    /// Calls `note` for each element of the array opened last. Returns false when the text is not JSON.
    @inline(__always)
    mutating func elements(_ note: (JSONValue) -> Void) -> Bool {
        skipBlanks()
        if take(UInt8(ascii: "]")) { return true }
        while true {
            let value = value()
            guard value.isValid else { return false }
            note(value)
            skipBlanks()
            if take(UInt8(ascii: "]")) { return true }
            guard take(UInt8(ascii: ",")) else { return false }
        }
    }
}
