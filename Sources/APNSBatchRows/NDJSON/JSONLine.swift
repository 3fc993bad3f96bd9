/// Finds where the values of a line of JSON end (RFC 8259), also of those that are in no column, so that a line is either JSON or has a
/// fault. Payloads and templates have a separate reader, `JSONScanner`, which this module does not use.
///
/// A function returns the offset behind what it has read, or -1, and then `fault` is set.
///
/// It is unsafe for speed: there are no bounds checks. No function reads past the end of a line, because each stops at a control
/// character: the line end or, at the end of the input, the zeros that follow it in the buffer.
@safe struct JSONLine {
    struct Fault {
        let cause: RowError.JSONCause
        let position: Int
    }

    private let bytes: UnsafePointer<UInt8>
    private(set) var fault: Fault?
    /// Whether the last string or key has escapes.
    private(set) var isEscaped = false
    /// The offset of the closing quote of the last key.
    private(set) var keyEnd = 0
    /// The number of objects and arrays around the values that are read.
    var depth = 0

    init(_ bytes: UnsafePointer<UInt8>) { unsafe self.bytes = bytes }

    mutating func fail(_ cause: RowError.JSONCause, at position: Int) -> Int {
        fault = Fault(cause: cause, position: position)
        return -1
    }

    @inline(__always)
    func skipBlanks(_ start: Int) -> Int {
        var at = start
        while unsafe bytes[at] == 0x20 || bytes[at] == 0x09 || bytes[at] == Byte.carriageReturn { at &+= 1 }
        return at
    }

    /// Reads a key, its colon, and the blanks before its value.
    @inline(__always)
    mutating func endOfKey(from start: Int) -> Int {
        guard unsafe bytes[start] == Byte.quote else { return fail(.expectedKey, at: start) }
        let close = endOfString(from: start &+ 1)
        if close < 0 { return -1 }
        keyEnd = close
        let colon = skipBlanks(close &+ 1)
        guard unsafe bytes[colon] == UInt8(ascii: ":") else { return fail(.expectedColon, at: colon) }
        return skipBlanks(colon &+ 1)
    }

    /// Returns the offset of the closing quote of a string.
    ///
    /// - Parameter start: the offset after its opening quote.
    @inline(__always)
    mutating func endOfString(from start: Int) -> Int {
        let at = unsafe Bytes16.special(bytes, from: start)
        isEscaped = false
        return unsafe bytes[at] == Byte.quote ? at : endOfEscapedString(from: start, at)
    }

    @inline(never)
    private mutating func endOfEscapedString(from start: Int, _ first: Int) -> Int {
        var at = first
        while unsafe bytes[at] == UInt8(ascii: "\\") {
            isEscaped = true
            let length = unsafe JSONEscape.length(bytes + at)
            if length == 0 { return unsafe fail(JSONEscape.fault(bytes + at), at: at) }
            unsafe at = Bytes16.special(bytes, from: at &+ length)
        }
        if unsafe bytes[at] == Byte.quote { return at }
        let isEnd = unsafe bytes[at] == Byte.lineFeed || bytes[at] == Byte.carriageReturn || bytes[at] == 0
        return isEnd ? fail(.unclosedString, at: start - 1) : fail(.controlCharacter, at: at)
    }

    /// Reads any value.
    @inline(__always)
    mutating func endOfValue(from start: Int) -> Int {
        switch unsafe bytes[start] {
        case UInt8(ascii: "{"), UInt8(ascii: "["): return endOfNested(from: start)
        default: return endOfScalar(from: start)
        }
    }

    @inline(__always)
    private mutating func endOfScalar(from start: Int) -> Int {
        switch unsafe bytes[start] {
        case Byte.quote:
            let close = endOfString(from: start &+ 1)
            return close < 0 ? -1 : close &+ 1
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return endOfNumber(from: start)
        default: return endOfWord(from: start)
        }
    }

    /// Reads `true`, `false` or `null`.
    private mutating func endOfWord(from start: Int) -> Int {
        let word = unsafe UInt32(
            littleEndian: UnsafeRawPointer(bytes + start).loadUnaligned(as: UInt32.self))
        let length =
            switch word {
            case 0x6575_7274, 0x6C6C_756E: 4  // "true", "null"
            case 0x736C_6166 where unsafe bytes[start + 4] == UInt8(ascii: "e"): 5  // "fals"
            default: 0
            }
        guard length > 0, unsafe !Self.continuesWord(bytes[start + length]) else {
            return fail(.expectedValue, at: start)
        }
        return start &+ length
    }

    /// Reads a number (section 6).
    private mutating func endOfNumber(from start: Int) -> Int {
        var at = unsafe bytes[start] == UInt8(ascii: "-") ? start &+ 1 : start
        let integer = at
        at = skipDigits(at)
        guard at > integer, unsafe at == integer &+ 1 || bytes[integer] != UInt8(ascii: "0") else {
            return fail(.badNumber, at: start)
        }
        if unsafe bytes[at] == UInt8(ascii: ".") {
            let end = skipDigits(at &+ 1)
            if end == at &+ 1 { return fail(.badNumber, at: start) }
            at = end
        }
        if unsafe bytes[at] | 0x20 == UInt8(ascii: "e") {
            let hasSign = unsafe bytes[at &+ 1] == UInt8(ascii: "+") || bytes[at &+ 1] == UInt8(ascii: "-")
            let digits = at &+ (hasSign ? 2 : 1)
            at = skipDigits(digits)
            if at == digits { return fail(.badNumber, at: start) }
        }
        return unsafe Self.continuesWord(bytes[at]) ? fail(.badNumber, at: start) : at
    }

    @inline(__always)
    private func skipDigits(_ start: Int) -> Int {
        var at = start
        while unsafe bytes[at] &- UInt8(ascii: "0") < 10 { at &+= 1 }
        return at
    }

    /// Whether a byte cannot follow a number or a word, because it would belong to it.
    private static func continuesWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "+"): true
        default: byte == UInt8(ascii: "-") || byte >= 0x80
        }
    }

    /// Reads an object or an array.
    private mutating func endOfNested(from start: Int) -> Int {
        var levels = Levels(depth)
        var at = start
        while at >= 0 {
            // A value begins here.
            if unsafe bytes[at] == UInt8(ascii: "{") || bytes[at] == UInt8(ascii: "[") {
                guard unsafe levels.open(isObject: bytes[at] == UInt8(ascii: "{")) else {
                    return fail(.tooDeep, at: at)
                }
                at = skipBlanks(at &+ 1)
                if unsafe bytes[at] != levels.closer {
                    if levels.isObject { at = endOfKey(from: at) }
                    continue
                }
            } else {
                at = endOfScalar(from: at)
                if at < 0 { return -1 }
                at = skipBlanks(at)
            }
            // A value has ended, or an empty object or array is about to.
            while unsafe bytes[at] == levels.closer {
                if levels.close() { return at &+ 1 }
                at = skipBlanks(at &+ 1)
            }
            guard unsafe bytes[at] == UInt8(ascii: ",") else { return fail(.expectedComma, at: at) }
            at = skipBlanks(at &+ 1)
            if levels.isObject { at = endOfKey(from: at) }
        }
        return -1
    }

    /// The open objects and arrays.
    private struct Levels {
        private var depth = 0
        private let most: Int
        /// A bit for each level, the innermost lowest, set for an object.
        private var objects: UInt64 = 0

        /// - Parameter around: the number of levels around them.
        init(_ around: Int) { most = RowLimits.jsonDepthMax &- around }

        var isObject: Bool { objects & 1 != 0 }
        var closer: UInt8 { isObject ? UInt8(ascii: "}") : UInt8(ascii: "]") }

        mutating func open(isObject: Bool) -> Bool {
            guard depth < most else { return false }
            depth &+= 1
            objects = objects &<< 1 | (isObject ? 1 : 0)
            return true
        }

        /// Returns whether it was the last one.
        mutating func close() -> Bool {
            depth &-= 1
            objects &>>= 1
            return depth == 0
        }
    }
}
