extension JSONScanner {
    /// Scans a string. The position is at its opening quote.
    @inline(__always)
    mutating func scanString(_ token: Token, then next: State) -> Token {
        let start = position &+ 1
        var high: UInt64 = 0
        let end = nextSpecial(from: start, &high)
        if unsafe end == count || bytes[end] != UInt8(ascii: "\"") { return scanEscapedString(token, then: next) }
        tokenWrittenCount = end &- start
        tokenIsShortest = true
        return finishString(token, start, end, high: high, then: next)
    }

    /// - Parameter high: the bitwise OR of the string's bytes.
    @inline(__always)
    private mutating func finishString(
        _ token: Token, _ start: Int, _ end: Int, high: UInt64, then next: State
    ) -> Token {
        tokenStart = start
        tokenCount = end &- start
        if high & 0x8080_8080_8080_8080 != 0,
            let fault = unsafe UTF8Check.firstFault(in: bytes + start, count: tokenCount)
        {
            return fail(.invalidUTF8, at: start &+ fault)
        }
        position = end &+ 1
        state = next
        return token
    }

    /// Scans a string that contains escapes or a fault.
    @inline(never)
    private mutating func scanEscapedString(_ token: Token, then next: State) -> Token {
        let start = position &+ 1
        var index = start
        var high: UInt64 = 0
        tokenWrittenCount = 0
        tokenIsShortest = true
        while true {
            index = nextSpecial(from: index, &high)
            if index == count { return fail(.unterminatedString) }
            if unsafe bytes[index] == UInt8(ascii: "\"") { break }
            if unsafe bytes[index] != UInt8(ascii: "\\") { return fail(.controlCharacter, at: index) }
            switch unsafe JSONEscape.read(bytes + index, available: count &- index) {
            case .fault(.unterminatedString): return fail(.unterminatedString)
            case .fault(let fault): return fail(fault, at: index)
            case .scalar(let scalar, let length):
                tokenWrittenCount &-= length &- JSONEscape.writtenCount(scalar)
                // A longer escape may be necessary, but its digits may be capital letters, which are normalised.
                if length > 2 || scalar == 0x2F { tokenIsShortest = false }
                index &+= length
            }
        }
        tokenWrittenCount &+= index &- start
        return finishString(token, start, index, high: high, then: next)
    }

    /// Returns the index of the first special byte at or after an index, or the end, as ``SpecialBytes/first(from:end:_:)``.
    @inline(__always)
    private func nextSpecial(from start: Int, _ high: inout UInt64) -> Int {
        unsafe SpecialBytes.first(from: bytes + start, end: bytes + count, &high) - bytes
    }

    /// Scans a number. The position is at its sign or first digit.
    mutating func scanNumber() -> Token {
        let length = unsafe JSONNumber.length(bytes + position, available: count &- position)
        let end = position &+ length
        if unsafe length == 0 || (end < count && Self.isWordByte(bytes[end])) { return fail(.badNumber) }
        tokenStart = position
        tokenCount = length
        position = end
        state = stateAfterValue
        return .number
    }

    /// Scans `true`, `false` or `null`, or reports what is there instead of a value.
    mutating func scanLiteral() -> Token {
        let length = unsafe JSONLiteral.length(bytes + position, available: count &- position)
        let end = position &+ length
        if unsafe length == 0 || (end < count && Self.isWordByte(bytes[end])) { return unexpectedValue() }
        tokenStart = position
        tokenCount = length
        position = end
        state = stateAfterValue
        return .literal
    }

    private mutating func unexpectedValue() -> Token {
        switch byte {
        case UInt8(ascii: "+"), UInt8(ascii: "."): return fail(.badNumber)
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): return fail(.badLiteral)
        default: return unexpected(.expectedValue)
        }
    }

    /// Reports an unexpected byte, by the name of the mistake if it is a common one.
    mutating func unexpected(_ fault: JSONFault) -> Token {
        if position == count { return fail(.unexpectedEnd) }
        if isTypographicQuote { return fail(.typographicQuote) }
        if byte == UInt8(ascii: "'") { return fail(.singleQuote) }
        return fail(fault)
    }

    /// Whether a quote from U+2018 to U+201F, U+00AB or U+00BB is at the position.
    private var isTypographicQuote: Bool {
        if count &- position >= 3, unsafe bytes[position] == 0xE2, unsafe bytes[position &+ 1] == 0x80 {
            return unsafe 0x98...0x9F ~= bytes[position &+ 2]
        }
        if count &- position >= 2, unsafe bytes[position] == 0xC2 {
            return unsafe bytes[position &+ 1] == 0xAB || bytes[position &+ 1] == 0xBB
        }
        return false
    }

    /// Whether a byte cannot follow a number or literal, because it would belong to it.
    @inline(__always)
    static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "_"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): true
        default: byte.isLetterOrDigit
        }
    }
}

/// The words `true`, `false` and `null`.
enum JSONLiteral {
    /// Returns the length of the word at the beginning of the bytes, 0 if there is none. A longer word may begin with it.
    @inline(__always)
    static func length(_ bytes: UnsafePointer<UInt8>, available: Int) -> Int {
        guard available >= 4 else { return 0 }
        let word = unsafe UInt32(littleEndian: bytes.word(as: UInt32.self))
        switch word {
        case 0x6575_7274, 0x6C6C_756E: return 4  // "true", "null"
        case 0x736C_6166: return unsafe available >= 5 && bytes[4] == UInt8(ascii: "e") ? 5 : 0  // "fals"
        default: return 0
        }
    }
}

/// Numbers according to RFC 8259 section 6.
enum JSONNumber {
    /// Returns the length of the number at the beginning of the bytes, 0 if there is none. A longer text may begin with a
    /// number: for `01` the length is 1.
    @inline(__always)
    static func length(_ bytes: UnsafePointer<UInt8>, available: Int) -> Int {
        var index = unsafe available > 0 && bytes[0] == UInt8(ascii: "-") ? 1 : 0
        let integer = unsafe digits(bytes, from: index, available)
        if integer == 0 { return 0 }
        unsafe index &+= bytes[index] == UInt8(ascii: "0") ? 1 : integer
        if index < available, unsafe bytes[index] == UInt8(ascii: ".") {
            let fraction = unsafe digits(bytes, from: index &+ 1, available)
            if fraction == 0 { return 0 }
            index &+= 1 &+ fraction
        }
        if index < available, unsafe bytes[index] | 0x20 == UInt8(ascii: "e") {
            index &+= 1
            if index < available, unsafe bytes[index] == UInt8(ascii: "+") || bytes[index] == UInt8(ascii: "-") {
                index &+= 1
            }
            let exponent = unsafe digits(bytes, from: index, available)
            if exponent == 0 { return 0 }
            index &+= exponent
        }
        return index
    }

    @inline(__always)
    private static func digits(_ bytes: UnsafePointer<UInt8>, from start: Int, _ available: Int) -> Int {
        var index = start
        while index < available, unsafe bytes[index].isDigit { index &+= 1 }
        return index &- start
    }
}
