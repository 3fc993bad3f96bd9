/// Looks in valid JSON for what ``SuspectText`` reports in its strings, and for nulls.
enum SuspectJSON {
    /// Whether there may be a find in a string, or a null. For nearly all JSON it takes one look at each 16 bytes, without regard to the
    /// grammar. Blanks between tokens are allowed.
    ///
    /// - Parameter nulls: whether to look for nulls.
    @inline(__always)
    static func mayHold(_ json: UnsafeRawBufferPointer, isShown: Bool, nulls: Bool) -> Bool {
        let look = Look(setting: SuspectText.Setting(isShown: isShown, isJSON: true), nulls: nulls)
        return unsafe look.mayHold(json) && look.holds(json)
    }

    /// What is looked for.
    struct Look {
        let setting: SuspectText.Setting
        let nulls: Bool
    }
}

// MARK: The look at all JSON

extension SuspectJSON.Look {
    @inline(__always)
    func mayHold(_ json: UnsafeRawBufferPointer) -> Bool {
        let (start, count) = unsafe (json.start, json.count)
        if count < 17 {
            // Without a text of one character and its quotes.
            if count < 3 { return false }
            let block = unsafe count == 16 ? start.block() : start.block(count: count)
            return unsafe mayBegin(block, block.next, json, 0)
        }
        // Nothing begins at the last byte.
        var offset = 0
        while offset &+ 17 <= count {
            if unsafe mayBegin((start + offset).block(), (start + (offset &+ 1)).block(), json, offset) { return true }
            offset &+= 16
        }
        return unsafe mayBegin((start + (count &- 17)).block(), (start + (count &- 16)).block(), json, count &- 17)
    }

    @inline(__always)
    private func mayBegin(_ block: Bytes16, _ next: Bytes16, _ json: UnsafeRawBufferPointer, _ offset: Int) -> Bool {
        let marks = Self.marks(block, next)
        return unsafe !marks.isEmpty && mayBegin(at: marks, Span(_unsafeBytes: json), offset)
    }

    /// Where a find may begin, by two bytes of it.
    ///
    /// - Parameter next: the block that begins one byte later.
    @inline(__always)
    private static func marks(_ block: Bytes16, _ next: Bytes16) -> SIMDMask<SIMD16<Int8>> {
        // `<`, `\` and `|` differ in two bits.
        let three = (block | Bytes16(repeating: 0x60)) .== Bytes16(repeating: UInt8(ascii: "|"))
        // `#`, `$`, `%` and `&` follow each other.
        let four = (block &- Bytes16(repeating: UInt8(ascii: "#"))) .< Bytes16(repeating: 4)
        let high = (block .== Bytes16(repeating: 0xC3)) .| (block .== Bytes16(repeating: 0xEF))
        return (three .| four) .| high .| (wholes(block, next) .| pairs(block, next))
    }

    /// Where a string begins like one of the texts that are recognised as a whole. Many strings end so, too.
    @inline(__always)
    private static func wholes(_ block: Bytes16, _ next: Bytes16) -> SIMDMask<SIMD16<Int8>> {
        let lower = next | Bytes16(repeating: 0x20)
        // `n` and `o` differ in one bit.
        let letters =
            ((lower | Bytes16(repeating: 1)) .== Bytes16(repeating: UInt8(ascii: "o")))
            .| (lower .== Bytes16(repeating: UInt8(ascii: "u")))
        let brackets = lower .== Bytes16(repeating: UInt8(ascii: "{"))
        // From the blank to the parenthesis.
        let others = (next ^ Bytes16(repeating: 0x20)) .< Bytes16(repeating: 9)
        let noBreak = next .== Bytes16(repeating: 0xC2)
        return (block .== Bytes16(repeating: UInt8(ascii: "\""))) .& ((letters .| brackets) .| (others .| noBreak))
    }

    /// Where two bytes are `{{`, or the middle of a null.
    @inline(__always)
    private static func pairs(_ block: Bytes16, _ next: Bytes16) -> SIMDMask<SIMD16<Int8>> {
        let braces =
            (block .== Bytes16(repeating: UInt8(ascii: "{"))) .& (next .== Bytes16(repeating: UInt8(ascii: "{")))
        let middle =
            (block .== Bytes16(repeating: UInt8(ascii: "u"))) .& (next .== Bytes16(repeating: UInt8(ascii: "l")))
        return braces .| middle
    }
}

// MARK: The look at a mark

extension SuspectJSON.Look {
    @inline(never)
    private func mayBegin(at marks: SIMDMask<SIMD16<Int8>>, _ json: Span<UInt8>, _ offset: Int) -> Bool {
        for lane in SetLanes(marks) where mayBegin(json, offset &+ lane) { return true }
        return false
    }

    private func mayBegin(_ json: Span<UInt8>, _ index: Int) -> Bool {
        let next = SuspectText.byte(json, index + 1)
        switch json[index] {
        case UInt8(ascii: "\""): return mayBeWhole(json, index + 1)
        case UInt8(ascii: "\\"): return mayBeEscape(json, index)
        case UInt8(ascii: "u"): return nulls && isNull(json, index - 1)
        case UInt8(ascii: "{"): return true
        case UInt8(ascii: "#"), UInt8(ascii: "$"): return next == UInt8(ascii: "{")
        // A word such as `<null>`.
        case UInt8(ascii: "<") where ends(json, index - 1) && next | 0x20 == UInt8(ascii: "n"): return true
        case UInt8(ascii: "<"), UInt8(ascii: "|"), UInt8(ascii: "%"), UInt8(ascii: "&"):
            return setting.isShown && mayBeMark(json, index)
        default: return mayBeMark(json, index)
        }
    }

    /// Whether a find begins at a mark, or may do so because a character after it is written as an escape.
    private func mayBeMark(_ json: Span<UInt8>, _ index: Int) -> Bool {
        let backslash = UInt8(ascii: "\\")
        switch json[index] {
        case 0xC3 where SuspectText.byte(json, index + 2) == backslash: return true
        case 0xC3 where SuspectText.byte(json, index + 4) == backslash: return true
        case UInt8(ascii: "%") where SuspectText.byte(json, index - 1) == UInt8(ascii: "{"): return true
        default: return SuspectText.byte(json, index + 1) == backslash || SuspectText.part(json, index, setting) != nil
        }
    }

    /// Whether the bytes from a place on are a null, or a text that looks like one.
    private func isNull(_ json: Span<UInt8>, _ start: Int) -> Bool {
        guard SuspectText.byte(json, start) == UInt8(ascii: "n"), SuspectText.byte(json, start + 3) == UInt8(ascii: "l")
        else { return false }
        switch SuspectText.byte(json, start - 1) {
        case 0...0x20, UInt8(ascii: ":"), UInt8(ascii: ","), UInt8(ascii: "["): return true
        default: return false
        }
    }

    /// Whether the string from a place on may be a text that is recognised as a whole.
    private func mayBeWhole(_ json: Span<UInt8>, _ start: Int) -> Bool {
        let second = SuspectText.byte(json, start + 1)
        switch SuspectText.byte(json, start) {
        case UInt8(ascii: "n"), UInt8(ascii: "N"), UInt8(ascii: "u"):
            return mayBeWord(json, start)
        case UInt8(ascii: "#"): return "NRVD".utf8.contains(second)
        case UInt8(ascii: "("):
            return second == UInt8(ascii: "n") && SuspectText.byte(json, start + 2) == UInt8(ascii: "u")
        case UInt8(ascii: "["): return setting.isShown || "No".utf8.contains(second)
        case UInt8(ascii: "{"): return setting.isShown
        case UInt8(ascii: " "): return setting.isShown && (mayBeBlank(json, start) || mayBeFramed(json, start))
        case 0xC2: return setting.isShown && mayBeBlank(json, start)
        case UInt8(ascii: "'"): return setting.isShown && mayBeFramed(json, start)
        case UInt8(ascii: "O"):
            return setting.isShown && (second == UInt8(ascii: "p") || second == UInt8(ascii: "\\"))
        default: return false
        }
    }

    /// Whether a word for no value may begin after the blanks and the quote from a place on.
    private func mayBeFramed(_ json: Span<UInt8>, _ start: Int) -> Bool {
        var index = start
        while SuspectText.byte(json, index) == UInt8(ascii: " ") { index += 1 }
        while "'\\\"".utf8.contains(SuspectText.byte(json, index)), index - start < 600 { index += 1 }
        return "Nnu#(<[".utf8.contains(SuspectText.byte(json, index))
    }

    /// Whether a string that begins with N, n or u may be a word for no value, from `nan` to `undefined`. Names such as `note` are not.
    private func mayBeWord(_ json: Span<UInt8>, _ start: Int) -> Bool {
        let second = SuspectText.byte(json, start + 1)
        // As in `n\/a`.
        if second == UInt8(ascii: "\\") { return true }
        if endsOrIsBlank(json, start + 3) {
            return second == UInt8(ascii: "a") || second == UInt8(ascii: "i") || second == UInt8(ascii: "/")
        }
        if endsOrIsBlank(json, start + 4) {
            return second | 0x20 == UInt8(ascii: "u") || json[start] == UInt8(ascii: "N") && second == UInt8(ascii: "o")
        }
        return second == UInt8(ascii: "n") && endsOrIsBlank(json, start + 9)
    }

    /// Whether a string ends at a place, or after the blanks there in a text for people.
    private func endsOrIsBlank(_ json: Span<UInt8>, _ index: Int) -> Bool {
        var index = index
        while setting.isShown, SuspectText.byte(json, index) == UInt8(ascii: " ") { index += 1 }
        return ends(json, index)
    }

    private func ends(_ json: Span<UInt8>, _ index: Int) -> Bool { SuspectText.byte(json, index) == UInt8(ascii: "\"") }

    /// Whether there is nothing but blanks from a place of a string to its end, or up to an escape by its number.
    private func mayBeBlank(_ json: Span<UInt8>, _ start: Int) -> Bool {
        var index = start
        while true {
            switch SuspectText.byte(json, index) {
            case UInt8(ascii: " "): index += 1
            case 0xC2 where SuspectText.byte(json, index + 1) == 0xA0: index += 2
            case UInt8(ascii: "\\"):
                switch SuspectText.byte(json, index + 1) {
                case UInt8(ascii: "t"), UInt8(ascii: "n"), UInt8(ascii: "r"): index += 2
                case UInt8(ascii: "u"): return true
                default: return false
                }
            case let byte: return byte == UInt8(ascii: "\"")
            }
        }
    }

    /// Whether a find may begin at a backslash.
    private func mayBeEscape(_ json: Span<UInt8>, _ index: Int) -> Bool {
        let isFirst = ends(json, index - 1)
        switch SuspectText.byte(json, index + 1) {
        // A backslash in the text.
        case UInt8(ascii: "\\"):
            let letter = SuspectText.byte(json, index + 2)
            return setting.isShown ? "nrt\"'ux\\N".utf8.contains(letter) : isFirst && letter == UInt8(ascii: "N")
        // A quote of the text.
        case UInt8(ascii: "\""): return isFirst && setting.isShown && mayBeFramed(json, index)
        case UInt8(ascii: "u"): return isTelling(json, index)
        case UInt8(ascii: "t"), UInt8(ascii: "n"), UInt8(ascii: "r"):
            return isFirst && setting.isShown && mayBeBlank(json, index)
        default: return false
        }
    }

    /// Whether an escape is of a character by which a find is recognised.
    private func isTelling(_ json: Span<UInt8>, _ index: Int) -> Bool {
        var unit: UInt16 = 0
        // A letter has the bit 0x40, and its value is nine more than its last four bits.
        for place in (index + 2)..<(index + 6) {
            let digit = SuspectText.byte(json, place)
            unit = unit << 4 | UInt16(digit & 0x0F) &+ (digit & 0x40 == 0 ? 0 : 9)
        }
        let next = SuspectText.byte(json, index + 6)
        switch unit {
        // Programs write these as escapes in JSON that is to be part of HTML: ' + = >
        case 0x27, 0x2B, 0x3D, 0x3E: return false
        case 0x20...0x7E, 0xFFFD: return true
        // Mojibake, after whose first character another one beyond ASCII follows.
        case 0xC2, 0xC3, 0xD0, 0xD1, 0xE2, 0xEF, 0xF0: return next == UInt8(ascii: "\\") || next >= 0x80
        case 0x09, 0x0A, 0x0D, 0xA0:
            return setting.isShown && ends(json, index - 1) && mayBeBlank(json, index + 6)
        default: return false
        }
    }
}

// MARK: The look at its strings

extension SuspectJSON.Look {
    @inline(never)
    func holds(_ json: UnsafeRawBufferPointer) -> Bool {
        var scanner = unsafe JSONScanner(json, top: .anyValue)
        let unescaped = SuspectText.Setting(isShown: setting.isShown)
        while true {
            switch scanner.next() {
            case .end, .fault: return false
            case .literal where nulls: if unsafe scanner.token.first == UInt8(ascii: "n") { return true }
            case .string where scanner.tokenIsShortest:
                if unsafe SuspectText.isHeld(in: scanner.token, setting) { return true }
            case .string:
                if unsafe Array(scanner.text.utf8).withUnsafeBytes({ unsafe SuspectText.isHeld(in: $0, unescaped) }) {
                    return true
                }
            default: break
            }
        }
    }
}
