/// A strict scanner of JSON (RFC 8259): tells the tokens of a text one after the other and stops at the first fault.
///
/// It never reads outside its text, allocates nothing and does not recurse. All JSON in this module is read through it, but
/// for what ``CompactCursor`` walks. Keys are told apart from values, and ``depth`` says how deep the scanner stands. Members
/// of one name in one object are told as they come; whether that is allowed is up to the caller.
///
/// It holds a pointer, not a span: the check of bounds at each byte would be paid by every row.
@safe struct JSONScanner {
    /// Levels of objects and arrays that are followed. The RFC lets a parser set a limit (section 9).
    static let depthLimit = 64

    enum Token: UInt8 {
        case objectStart, objectEnd, arrayStart, arrayEnd
        /// A member's name; its colon has been passed.
        case key
        case string, number
        /// `true`, `false` or `null`.
        case literal
        /// The text is complete and valid.
        case end
        /// See ``fault`` and ``faultOffset``.
        case fault
    }

    /// What may stand at the top.
    enum Top { case object, anyValue }

    enum State: UInt8 { case value, firstMember, firstElement, afterValue, done, failed }

    let bytes: UnsafePointer<UInt8>
    let count: Int
    var position = 0

    /// Levels open now, those around the text included.
    private(set) var depth: Int
    /// One bit per level: set for an object.
    private var objects: UInt64 = 0
    private let depthAbove: Int
    private let top: Top
    var state = State.value

    /// The last token's bytes: for a string or key those between the quotes, as they stand in the source.
    var tokenStart = 0
    var tokenCount = 0
    /// Bytes of a string or key in its shortest form.
    var tokenWrittenCount = 0
    /// Whether a string or key has its shortest form already.
    var tokenIsShortest = true
    /// Whether a comma stood before the last token.
    private(set) var isSeparated = false

    private(set) var fault = JSONFault.empty
    /// Where the fault is, in bytes from the start of the text.
    private(set) var faultOffset = 0

    /// - Parameters:
    ///   - text: borrowed for the life of the scanner.
    ///   - depthAbove: levels that will stand around this text; they count against the limit.
    init(_ text: UnsafeRawBufferPointer, top: Top, depthAbove: Int = 0) {
        // An empty buffer may have no address; the pointer is not followed then.
        let address = unsafe text.baseAddress ?? UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped
        unsafe bytes = unsafe address.assumingMemoryBound(to: UInt8.self)
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

    /// The byte at the position, 0 at the end: no token begins with it.
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

    /// The state once a value at this depth is complete.
    @inline(__always)
    var stateAfterValue: State { depth == depthAbove ? .done : .afterValue }

    /// Passes the rest of the value that began with a token: of an object or array all that is in it.
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
    /// The last token as it stands in the text; of a string or key what stands between the quotes.
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
