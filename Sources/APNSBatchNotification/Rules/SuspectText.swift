/// Finds what in a text betrays that an export, or a program before it, is broken: `\N`, `&amp;`, `Ã©`, `{{name}}` and the like.
///
/// None of it is certain, because any text may be meant. So a table is narrow: each row is a form that a broken export makes often, and a
/// person writes hardly ever.
enum SuspectText {
    /// The kinds of what is found.
    enum Kind: UInt8, CaseIterable {
        /// The whole text is a word by which programs show that there is no value.
        case nullWord
        /// The whole text is blanks.
        case blank
        /// The whole text is a JSON object or array.
        case object
        /// The whole text is a value as a program prints it for its programmer.
        case literal
        case escape, entity, mojibake, replacement, placeholder, tag
    }

    /// What was found, and the bytes of it.
    struct Find: Equatable {
        let kind: Kind
        let range: Range<Int>
    }

    /// Which finds count.
    struct Setting {
        /// Whether people read the text. In what only an app reads, an entity or a tag may be meant.
        var isShown: Bool
        /// Whether it is a whole field or string, and not a part of one.
        var isWhole = true
        /// Whether it is the text between the quotes of a JSON string, in its shortest form. There is a find then if there is one in
        /// the string itself, and perhaps without one.
        var isJSON = false

        /// The largest number of bytes between the marks around a find.
        var reach: Int { isJSON ? 600 : 100 }
    }

    /// Returns the first find in a text; nil if there is none.
    static func find(_ text: UnsafeRawBufferPointer, _ setting: Setting) -> Find? {
        unsafe isHeld(in: text, setting) ? search(Span(_unsafeBytes: text), setting) : nil
    }

    /// Words for no value in databases, spreadsheets and programming languages. `isShown` marks those that only in a text for people are
    /// more likely a fault than meant. `Null` is not among them: it is the name of people.
    static let nullWords: [(word: [UInt8], isShown: Bool)] =
        [
            ("\\N", false), ("NULL", false), ("null", false), ("<null>", false), ("(null)", false), ("[NULL]", false),
            ("NaN", false), ("nan", false), ("NaT", false), ("<NA>", false), ("undefined", false), ("None", true),
            ("nil", true), ("<nil>", false), ("N/A", true), ("n/a", true), ("#N/A", false), ("#REF!", false),
            ("#VALUE!", false), ("#NAME?", false), ("#DIV/0!", false), ("#NULL!", false), ("#NUM!", false),
            ("[object Object]", false),
        ].map { (Array($0.0.utf8), $0.1) }

    /// The length of the longest of them.
    static let nullWordMost = 15
}

// MARK: The look at every text

extension SuspectText {
    /// Whether there is a find in a text. For nearly all texts it takes one look at each 16 bytes.
    @inline(__always)
    static func isHeld(in text: UnsafeRawBufferPointer, _ setting: Setting) -> Bool {
        let count = text.count
        guard count > 0 else { return false }
        let start = unsafe text.start
        if setting.isWhole, unsafe mayBeWhole(start.pointee, (start + (count &- 1)).pointee, count),
            unsafe isWhole(text, setting)
        {
            return true
        }
        if count < 16 { return unsafe isHeld(marks(start.block(count: count)), text, 0, setting) }
        var offset = 0
        while offset &+ 16 <= count {
            if unsafe isHeld(marks((start + offset).block()), text, offset, setting) { return true }
            offset &+= 16
        }
        if offset == count { return false }
        return unsafe isHeld(marks((start + (count &- 16)).block()), text, count &- 16, setting)
    }

    @inline(__always)
    private static func isHeld(
        _ marks: SIMDMask<SIMD16<Int8>>, _ text: UnsafeRawBufferPointer, _ offset: Int, _ setting: Setting
    ) -> Bool {
        unsafe !marks.isEmpty && begins(at: marks, Span(_unsafeBytes: text), offset, setting)
    }

    /// Whether a find begins at one of the marks.
    @inline(never)
    private static func begins(
        at marks: SIMDMask<SIMD16<Int8>>, _ text: Span<UInt8>, _ offset: Int, _ setting: Setting
    ) -> Bool {
        for lane in SetLanes(marks) where part(text, offset &+ lane, setting) != nil { return true }
        return false
    }

    /// Whether a text with this first and this last byte may be one of those that are recognised as a whole.
    @inline(__always)
    private static func mayBeWhole(_ first: UInt8, _ last: UInt8, _ count: Int) -> Bool {
        switch first {
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"), 0xC2, UInt8(ascii: "["),
            UInt8(ascii: "#"), UInt8(ascii: "("), UInt8(ascii: "\\"), UInt8(ascii: "<"), UInt8(ascii: "{"):
            true
        // A word for no value, the longest of which is `undefined`.
        case UInt8(ascii: "N"), UInt8(ascii: "n"), UInt8(ascii: "u"): count < 10 || last == UInt8(ascii: " ")
        case UInt8(ascii: "'"), UInt8(ascii: "\""): last == first || last == UInt8(ascii: " ")
        case UInt8(ascii: "O"): last == UInt8(ascii: ")")
        default: false
        }
    }

    @inline(never)
    private static func isWhole(_ text: UnsafeRawBufferPointer, _ setting: Setting) -> Bool {
        unsafe whole(Span(_unsafeBytes: text), setting) != nil
    }

    /// Where a block has one of `< \ | { % &`, or a byte with which mojibake or U+FFFD begins.
    @inline(__always)
    private static func marks(_ block: Bytes16) -> SIMDMask<SIMD16<Int8>> {
        // `<`, `\` and `|` differ in two bits; the fourth such byte is a control character.
        let three = (block | Bytes16(repeating: 0x60)) .== Bytes16(repeating: UInt8(ascii: "|"))
        let brace = block .== Bytes16(repeating: UInt8(ascii: "{"))
        let percent = block .== Bytes16(repeating: UInt8(ascii: "%"))
        let ampersand = block .== Bytes16(repeating: UInt8(ascii: "&"))
        let mojibake = block .== Bytes16(repeating: 0xC3)
        let replacement = block .== Bytes16(repeating: 0xEF)
        return (three .| brace) .| (percent .| ampersand) .| (mojibake .| replacement)
    }
}

// MARK: The exact search

extension SuspectText {
    /// Returns the first find in a text, without a quick look before.
    static func search(_ text: Span<UInt8>, _ setting: Setting) -> Find? {
        if text.isEmpty { return nil }
        if setting.isWhole, let kind = whole(text, setting) { return Find(kind: kind, range: 0..<text.count) }
        var index = 0
        while index < text.count {
            if let (kind, length) = part(text, index, setting) {
                let start = kind == .placeholder ? Leftover.start(text, index) : index
                return Find(kind: kind, range: start..<min(text.count, index + length))
            }
            index += setting.isJSON && text[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return nil
    }

    private static func whole(_ text: Span<UInt8>, _ setting: Setting) -> Kind? {
        let word = setting.isShown ? withoutFrame(text, isJSON: setting.isJSON) : 0..<text.count
        if isNullWord(text, word, setting) { return .nullWord }
        guard setting.isShown else { return nil }
        if isBlank(text, isJSON: setting.isJSON) { return .blank }
        return isObject(text, setting) ? .object : isLiteral(text) ? .literal : nil
    }

    /// Where a text is without blanks and without one pair of quotes around it: some exports write a word for no value so.
    private static func withoutFrame(_ text: Span<UInt8>, isJSON: Bool) -> Range<Int> {
        var (start, end) = (0, text.count)
        while start < end, text[start] == UInt8(ascii: " ") { start += 1 }
        while end > start, text[end - 1] == UInt8(ascii: " ") { end -= 1 }
        let isEscaped = isJSON && byte(text, start) == UInt8(ascii: "\\") && byte(text, end - 2) == UInt8(ascii: "\\")
        let mark = isEscaped ? 2 : 1
        guard end - start > 2 * mark else { return start..<end }
        let quote = text[start + mark - 1]
        guard quote == text[end - 1], quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") && !isEscaped else {
            return start..<end
        }
        return start + mark..<end - mark
    }

    /// `Optional("Ann")`, as Swift prints it.
    private static func isLiteral(_ text: Span<UInt8>) -> Bool {
        text[0] == UInt8(ascii: "O") && text[text.count - 1] == UInt8(ascii: ")") && matches(text, 0, optional)
    }

    private static let optional = Array("Optional(".utf8)

    private static func mayBeNullWord(_ first: UInt8, _ count: Int) -> Bool {
        switch first {
        // From `nan` and `null` to `undefined`.
        case UInt8(ascii: "N"), UInt8(ascii: "n"), UInt8(ascii: "u"): count == 3 || count == 4 || count == 9
        case UInt8(ascii: "\\"), UInt8(ascii: "#"), UInt8(ascii: "("), UInt8(ascii: "<"), UInt8(ascii: "["):
            count <= nullWordMost
        default: false
        }
    }

    private static func isNullWord(_ text: Span<UInt8>, _ range: Range<Int>, _ setting: Setting) -> Bool {
        if range.isEmpty { return false }
        // In JSON, the backslash of `\N` is doubled.
        let start = range.lowerBound + (setting.isJSON && text[range.lowerBound] == UInt8(ascii: "\\") ? 1 : 0)
        guard start < range.upperBound, mayBeNullWord(text[start], range.upperBound - start) else { return false }
        for (word, isShown) in nullWords where word.count == range.upperBound - start && (setting.isShown || !isShown) {
            if matches(text, start, word) { return true }
        }
        return false
    }

    private static func isBlank(_ text: Span<UInt8>, isJSON: Bool) -> Bool {
        var index = 0
        while index < text.count {
            switch text[index] {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): index += 1
            case UInt8(ascii: "\\") where isJSON && "tnr".utf8.contains(byte(text, index + 1)): index += 2
            // The no-break space.
            case 0xC2 where index + 1 < text.count && text[index + 1] == 0xA0: index += 2
            default: return false
            }
        }
        return true
    }

    private static func isObject(_ text: Span<UInt8>, _ setting: Setting) -> Bool {
        let last = text[text.count - 1]
        guard text.count >= 2 else { return false }
        let second = text[1]
        let quote = setting.isJSON ? UInt8(ascii: "\\") : UInt8(ascii: "\"")
        switch text[0] {
        case UInt8(ascii: "{"):
            return last == UInt8(ascii: "}") && (text.count == 2 || second == quote)
        case UInt8(ascii: "["):
            guard last == UInt8(ascii: "]") else { return false }
            let isList = second.isDigit && text.indices.contains { text[$0] == UInt8(ascii: ",") }
            return text.count == 2 || second == quote || second == UInt8(ascii: "{") || isList
        default: return false
        }
    }

    /// Returns what begins at a place of the text, and its length.
    static func part(_ text: Span<UInt8>, _ index: Int, _ setting: Setting) -> (Kind, Int)? {
        switch text[index] {
        case 0xC3: return Mojibake.length(text, index, setting).map { (.mojibake, $0) }
        case 0xEF: return matches(text, index, [0xEF, 0xBF, 0xBD]) ? (.replacement, 3) : nil
        case UInt8(ascii: "{"): return Leftover.brace(text, index, setting).map { (.placeholder, $0) }
        case _ where !setting.isShown: return nil
        case UInt8(ascii: "\\"): return escape(text, index, isJSON: setting.isJSON).map { (.escape, $0) }
        case UInt8(ascii: "&"): return entity(text, index).map { (.entity, $0) }
        case UInt8(ascii: "<"): return Tag.length(text, index, setting).map { (.tag, $0) }
        case UInt8(ascii: "%"): return Leftover.percent(text, index, setting).map { (.placeholder, $0) }
        case UInt8(ascii: "|"): return Leftover.bar(text, index, setting).map { (.placeholder, $0) }
        default: return nil
        }
    }

    static func matches(_ text: Span<UInt8>, _ index: Int, _ bytes: [UInt8]) -> Bool {
        index + bytes.count <= text.count && bytes.indices.allSatisfy { text[index + $0] == bytes[$0] }
    }

    /// Returns the byte at a place; 0 outside the text.
    static func byte(_ text: Span<UInt8>, _ index: Int) -> UInt8 {
        index >= 0 && index < text.count ? text[index] : 0
    }

    /// Returns the byte before a place; 0 at the beginning, and in JSON, where it may be the end of an escape.
    static func byteBefore(_ text: Span<UInt8>, _ index: Int, _ setting: Setting) -> UInt8 {
        setting.isJSON ? 0 : byte(text, index - 1)
    }

    /// `\n`, `\"`, `\u00e9` and the like.
    private static func escape(_ text: Span<UInt8>, _ index: Int, isJSON: Bool) -> Int? {
        guard !isJSON || byte(text, index + 1) == UInt8(ascii: "\\") else { return nil }
        let mark = isJSON ? 2 : 1
        var letter = byte(text, index + mark)
        if isJSON, letter == UInt8(ascii: "\\") {
            letter = byte(text, index + mark + 1) == UInt8(ascii: "\"") ? UInt8(ascii: "\"") : 0
        }
        switch letter {
        case UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"), UInt8(ascii: "\""), UInt8(ascii: "'"):
            return mark + 1
        case UInt8(ascii: "u"):
            return (1...4).allSatisfy { DeviceToken.isHexDigit(byte(text, index + mark + $0)) } ? mark + 5 : nil
        case UInt8(ascii: "x"):
            return (1...2).allSatisfy { DeviceToken.isHexDigit(byte(text, index + mark + $0)) } ? mark + 3 : nil
        default: return nil
        }
    }

    /// `&amp;`, `&#39;`, `&#x27;` and the like; not the end of a name such as AT&T.
    private static func entity(_ text: Span<UInt8>, _ index: Int) -> Int? {
        var end = index + 1
        let isNumber = byte(text, end) == UInt8(ascii: "#")
        if isNumber { end += byte(text, end + 1) | 0x20 == UInt8(ascii: "x") ? 2 : 1 }
        let start = end
        var hasLower = false
        while end < text.count, end - start < 10, text[end].isLetterOrDigit {
            hasLower = hasLower || text[end] >= UInt8(ascii: "a")
            end += 1
        }
        guard byte(text, end) == UInt8(ascii: ";"), end - start >= (isNumber ? 1 : 2) else { return nil }
        if isNumber { return (start..<end).allSatisfy { DeviceToken.isHexDigit(text[$0]) } ? end + 1 - index : nil }
        return hasLower && !text[start].isDigit ? end + 1 - index : nil
    }
}
