/// A strict scanner of JSON (RFC 8259). It returns the tokens of a text one after the other and stops at the first fault.
///
/// It never reads outside of its text, does not allocate, and does not recurse. All JSON in this module is read by it,
/// except for what ``CompactCursor`` and ``ShortestCopy`` read. Keys are distinguished from values, and ``depth`` is the current level.
/// Duplicate keys in an object are returned like others; callers decide whether they are allowed.
///
/// It holds a pointer and not a span, because bounds checks at each byte would cost time for every row.
@safe struct JSONScanner {
    /// The maximum number of levels of objects and arrays. The RFC allows such a limit (section 9).
    static let depthLimit = 64

    enum Token: UInt8 {
        case objectStart, objectEnd, arrayStart, arrayEnd
        /// A member's name, including its colon.
        case key
        case string, number
        /// `true`, `false` or `null`.
        case literal
        /// The end of a complete and valid text.
        case end
        /// See ``fault`` and ``faultOffset``.
        case fault
    }

    enum Top { case object, anyValue }

    enum State: UInt8 { case value, firstMember, firstElement, afterValue, done, failed }

    let bytes: UnsafePointer<UInt8>
    let count: Int
    var position = 0

    /// The current number of open levels, including those around the text.
    private(set) var depth: Int
    /// One bit per level, set for an object.
    private var objects: UInt64 = 0
    private let depthAbove: Int
    private let top: Top
    var state = State.value

    /// The range of the last token; for a string or key, the bytes between the quotes as they are in the source.
    var tokenStart = 0
    var tokenCount = 0
    /// The length of a string or key in its shortest form, in bytes.
    var tokenWrittenCount = 0
    /// Whether a string or key is already in its shortest form.
    var tokenIsShortest = true
    /// Whether a comma preceded the last token.
    private(set) var isSeparated = false

    private(set) var fault = JSONFault.empty
    /// The offset of the fault in bytes from the start of the text.
    private(set) var faultOffset = 0

    /// - Parameters:
    ///   - text: borrowed for the lifetime of the scanner.
    ///   - depthAbove: the number of levels that will be around this text, which count toward the limit.
    init(_ text: UnsafeRawBufferPointer, top: Top, depthAbove: Int = 0) {
        unsafe bytes = unsafe text.start
        count = text.count
        depth = depthAbove
        self.depthAbove = depthAbove
        self.top = top
    }

    @inline(__always)
    mutating func next() -> Token {
        skipWhitespace()
        isSeparated = false
        switch state {
        case .afterValue: return nextAfterValue()
        case .value: return depth == depthAbove ? topValue() : value()
        case .firstMember: return byte == UInt8(ascii: "}") ? close(.objectEnd) : key()
        case .firstElement: return byte == UInt8(ascii: "]") ? close(.arrayEnd) : value()
        case .done: return position == count ? .end : fail(.textAfterEnd)
        case .failed: return .fault
        }
    }

    /// The byte at the position; 0 at the end, with which no token begins.
    @inline(__always)
    var byte: UInt8 { unsafe position < count ? bytes[position] : 0 }

    @inline(__always)
    mutating func skipWhitespace() {
        while position < count, unsafe bytes[position] <= 0x20 {
            switch unsafe bytes[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position &+= 1
            default: return
            }
        }
    }

    mutating func fail(_ fault: JSONFault, at offset: Int? = nil) -> Token {
        self.fault = fault
        faultOffset = offset ?? position
        state = .failed
        return .fault
    }

    private mutating func topValue() -> Token {
        if position == count { return fail(.empty) }
        if top == .object, byte != UInt8(ascii: "{") { return unexpected(.expectedObject) }
        return value()
    }

    @inline(__always)
    private mutating func value() -> Token {
        switch byte {
        case UInt8(ascii: "\""): return scanString(.string, then: stateAfterValue)
        case UInt8(ascii: "{"): return open(.objectStart)
        case UInt8(ascii: "["): return open(.arrayStart)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return scanNumber()
        default: return scanLiteral()
        }
    }

    @inline(__always)
    private mutating func key() -> Token {
        guard byte == UInt8(ascii: "\"") else { return unexpected(.expectedKey) }
        guard scanString(.key, then: .value) == .key else { return .fault }
        skipWhitespace()
        guard byte == UInt8(ascii: ":") else { return unexpected(.expectedColon) }
        position &+= 1
        return .key
    }

    @inline(__always)
    private mutating func nextAfterValue() -> Token {
        let isObject = objects & 1 != 0
        let closer = isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
        if byte == closer { return close(isObject ? .objectEnd : .arrayEnd) }
        guard byte == UInt8(ascii: ",") else {
            if startsValue(byte) { return fail(.missingComma) }
            return unexpected(isObject ? .expectedCommaOrBrace : .expectedCommaOrBracket)
        }
        let comma = position
        position &+= 1
        skipWhitespace()
        if byte == closer { return fail(.trailingComma, at: comma) }
        isSeparated = true
        return isObject ? key() : value()
    }

    @inline(__always)
    private mutating func open(_ token: Token) -> Token {
        guard depth < Self.depthLimit else { return fail(.tooDeep) }
        let isObject = token == .objectStart
        depth &+= 1
        objects = objects << 1 | (isObject ? 1 : 0)
        position &+= 1
        state = isObject ? .firstMember : .firstElement
        tokenStart = position &- 1
        return token
    }

    @inline(__always)
    private mutating func close(_ token: Token) -> Token {
        depth &-= 1
        objects >>= 1
        position &+= 1
        state = stateAfterValue
        tokenStart = position &- 1
        return token
    }

    /// The state after a complete value at this depth.
    @inline(__always)
    var stateAfterValue: State { depth == depthAbove ? .done : .afterValue }

    /// Skips the rest of the value that began with a token: the content of an object or array.
    mutating func finish(_ token: Token) {
        guard token == .objectStart || token == .arrayStart else { return }
        let outside = depth &- 1
        while depth > outside, state != .failed { _ = next() }
    }

    private func startsValue(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "-"): return true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"): return true
        default: return false
        }
    }
}

extension JSONScanner {
    /// The last token as it is in the text; for a string or key, the bytes between the quotes.
    @inline(__always)
    var token: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(start: bytes + tokenStart, count: tokenCount) }

    /// The last string or key, without its escapes.
    var text: String {
        var text = ""
        var rest = unsafe token[...]
        while let backslash = unsafe rest.firstIndex(of: UInt8(ascii: "\\")) {
            unsafe text += String(decoding: rest[..<backslash], as: UTF8.self)
            let escape = unsafe JSONEscape.read(bytes + tokenStart + backslash, available: tokenCount - backslash)
            guard case .scalar(let value, let length) = escape, let scalar = Unicode.Scalar(value) else { break }
            text.unicodeScalars.append(scalar)
            unsafe rest = unsafe rest[(backslash + length)...]
        }
        return unsafe text + String(decoding: rest, as: UTF8.self)
    }
}
