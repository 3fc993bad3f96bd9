extension SuspectText {
    /// UTF-8 that was read as Latin-1 or Windows-1252 and written as UTF-8 again: `Ã©`, `â€™`, `Â£`, `ðŸ`, `Ð°Ð`.
    enum Mojibake {
        /// The bytes after 0xC3 for which ``length(_:_:_:)`` looks further.
        static let seconds: [UInt8] = [0x82, 0x83, 0x90, 0x91, 0xA2, 0xAF, 0xB0]

        /// Returns the length of what begins at a byte 0xC3.
        static func length(_ text: Span<UInt8>, _ index: Int, _ setting: Setting) -> Int? {
            let (third, fourth) = (byte(text, index + 2), byte(text, index + 3))
            switch byte(text, index + 1) {
            // Ã and Â, followed by what the second byte of a character became.
            case 0x82, 0x83:
                return third == 0xC2 ? 4 : isSpecial(text, index, setting) ? 2 + (third == 0xE2 ? 3 : 2) : nil
            // Ð and Ñ, which are letters; two in a row are Cyrillic.
            case 0x90, 0x91:
                let hasNext = byte(text, index + 4) == 0xC3 && byte(text, index + 5) & 0xFE == 0x90
                return third == 0xC2 && hasNext ? 4 : nil
            // â and what follows it in punctuation and currency signs.
            case 0xA2:
                if third == 0xC2, fourth < 0xA0 { return 4 }
                let isPunctuation =
                    matches(text, index + 2, [0xE2, 0x82, 0xAC]) || matches(text, index + 2, [0xE2, 0x80, 0x9A])
                return isPunctuation ? 5 : nil
            // ï»¿, the byte order mark.
            case 0xAF: return matches(text, index + 2, [0xC2, 0xBB, 0xC2, 0xBF]) ? 6 : nil
            // ðŸ, with which every emoji begins.
            case 0xB0:
                return matches(text, index + 2, [0xC5, 0xB8]) || matches(text, index + 2, [0xC2, 0x9F]) ? 4 : nil
            default: return nil
            }
        }

        /// Whether a character that Windows-1252 has in place of a control character follows: Å, Ä, Ö, Ü and ß end so. In a word of
        /// capitals, as in MANHÃ…, it may be punctuation.
        private static func isSpecial(_ text: Span<UInt8>, _ index: Int, _ setting: Setting) -> Bool {
            let third = byte(text, index + 2)
            guard third == 0xE2 && byte(text, index + 3) == 0x80 || third == 0xC5 else { return false }
            let after = byte(text, index + 2 + (third == 0xE2 ? 3 : 2))
            let before = byteBefore(text, index, setting)
            return after.isLetterOrDigit || !(before.isLetterOrDigit && before < UInt8(ascii: "a"))
        }
    }

    /// Placeholders that another program left as they were.
    enum Leftover {
        /// `{{`, `{%`, `${name}`, `#{name}`.
        static func brace(_ text: Span<UInt8>, _ index: Int, _ setting: Setting) -> Int? {
            let next = byte(text, index + 1)
            if next == UInt8(ascii: "{") { return length(text, index, setting, close: "}}") ?? 2 }
            guard setting.isShown else { return nil }
            if next == UInt8(ascii: "%") { return length(text, index + 1, setting, close: "%}").map { $0 + 1 } }
            let before = byte(text, index - 1)
            guard before == UInt8(ascii: "$") || before == UInt8(ascii: "#"), next.isLetterOrDigit, !next.isDigit else {
                return nil
            }
            return length(text, index, setting, close: "}")
        }

        /// Returns where a placeholder begins whose brace or bar is at a place: at the mark before that, as in `${name}` and `*|NAME|*`.
        static func start(_ text: Span<UInt8>, _ index: Int) -> Int {
            let isMark =
                switch text[index] {
                case UInt8(ascii: "{") where !"{%".utf8.contains(byte(text, index + 1)):
                    "$#".utf8.contains(byte(text, index - 1))
                case UInt8(ascii: "|"): true
                default: false
                }
            return isMark ? index - 1 : index
        }

        /// `%s`, `%d`, `%@`, `%1$s`, `%(name)s`, `%%name%%`; not a percentage.
        static func percent(_ text: Span<UInt8>, _ index: Int, _ setting: Setting) -> Int? {
            let before = byteBefore(text, index, setting)
            if before.isDigit || before == UInt8(ascii: "%") { return nil }
            let (next, third) = (byte(text, index + 1), byte(text, index + 2))
            switch next {
            case UInt8(ascii: "@"): return 2
            case UInt8(ascii: "s"), UInt8(ascii: "d"): return third.isLetterOrDigit ? nil : 2
            case UInt8(ascii: "("): return length(text, index, setting, close: ")s")
            case UInt8(ascii: "%"):
                return third.isLetterOrDigit ? length(text, index + 2, setting, close: "%%").map { $0 + 2 } : nil
            default: return next.isDigit && third == UInt8(ascii: "$") ? 4 : nil
            }
        }

        /// `*|NAME|*`.
        static func bar(_ text: Span<UInt8>, _ index: Int, _ setting: Setting) -> Int? {
            guard byte(text, index - 1) == UInt8(ascii: "*"), byte(text, index + 1).isLetterOrDigit else { return nil }
            return length(text, index, setting, close: "|*")
        }

        /// Returns the length up to and with a mark that is not far away.
        private static func length(
            _ text: Span<UInt8>, _ index: Int, _ setting: Setting, close: StaticString
        ) -> Int? {
            let size = close.utf8CodeUnitCount
            var end = index + 1
            while end + size <= text.count, end - index < setting.reach {
                if (0..<size).allSatisfy({ unsafe text[end + $0] == close.utf8Start[$0] }) { return end + size - index }
                end += 1
            }
            return nil
        }
    }

    /// Tags of HTML.
    enum Tag {
        private static let names: Set<String> = [
            "a", "b", "i", "u", "p", "s", "br", "em", "li", "ul", "ol", "td", "tr", "th", "hr", "h1", "h2", "h3", "h4",
            "div",
            "img", "sub", "sup", "big", "pre", "span", "font", "body", "html", "table", "small", "style", "strong",
            "center",
            "script",
        ]

        static func length(_ text: Span<UInt8>, _ index: Int, _ setting: Setting) -> Int? {
            var end = index + 1
            if byte(text, end) == UInt8(ascii: "/") { end += 1 }
            var name = ""
            while end < text.count, name.utf8.count < 8, text[end].isLetterOrDigit {
                name.unicodeScalars.append(Unicode.Scalar(text[end] | 0x20))
                end += 1
            }
            guard names.contains(name) else { return nil }
            guard "> /".utf8.contains(byte(text, end)) else { return nil }
            // What has attributes has an equals sign; "a <b and c> d" has not.
            var hasAttributes = byte(text, end) != UInt8(ascii: " ")
            while end < text.count, end - index < 2 * setting.reach {
                switch text[end] {
                case UInt8(ascii: ">"): return hasAttributes ? end + 1 - index : nil
                case UInt8(ascii: "="), UInt8(ascii: "/"): hasAttributes = true
                case UInt8(ascii: "<"): return nil
                default: break
                }
                end += 1
            }
            return nil
        }
    }
}

extension SuspectText.Find {
    /// What was found, what it is and what to do, for a message.
    func message(in text: UnsafeRawBufferPointer) -> String {
        let shown = unsafe FoundText.quoted(Array(text)[range])
        switch kind {
        case .nullWord: return "found \(shown), a word for no value; an empty field takes the default"
        case .blank: return "found nothing but blanks; an empty field takes the default"
        case .object: return "found an object or array of JSON where a text belongs"
        case .literal: return "found \(shown), a value as a program prints it for its programmer"
        case .escape: return "found the characters \(shown), an escape that no program has read"
        case .entity: return "found \(shown), an entity of HTML, which is shown as it is"
        case .mojibake: return "found \(shown), which is UTF-8 that was read in another encoding"
        case .replacement: return "found U+FFFD, which stands for characters that were lost in another encoding"
        case .placeholder: return "found \(shown), a placeholder that no program has filled in"
        case .tag: return "found \(shown), a tag of HTML, which is shown as it is"
        }
    }
}
