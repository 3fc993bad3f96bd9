/// Text from outside that a message quotes: the name of a column, a value, a word of a file.
///
/// What cannot be seen in it, or looks like a blank, is shown by its code point, as in `"\u{200B}token"`, because it may be the very
/// thing that the message is about. ``Printable`` leaves such characters alone, because they belong to the texts of people.
extension Printable {
    /// Returns the text on one line, with nothing in it that cannot be seen.
    package static func visible(_ text: String) -> String {
        let scalars = Array(text.unicodeScalars)
        guard scalars.contains(where: \.isUnseen) else { return self.text(text) }
        var result = String.UnicodeScalarView()
        for (index, scalar) in scalars.enumerated() {
            if scalar.isUnseen, !joins(scalars, at: index) {
                result.append(contentsOf: "\\u{\(String(scalar.value, radix: 16, uppercase: true))}".unicodeScalars)
            } else {
                result.append(scalar)
            }
        }
        return self.text(String(result))
    }

    /// Whether a joiner or a variation selector does what it is for: it changes how the characters beside it are shown, as in many
    /// emoji and in Persian words. No character of ASCII is shown otherwise because of one.
    private static func joins(_ scalars: [Unicode.Scalar], at index: Int) -> Bool {
        func isShown(_ index: Int) -> Bool {
            scalars.indices.contains(index) && scalars[index].value >= 0x80
                && (!scalars[index].isUnseen || scalars[index].isVariationSelector)
        }
        switch scalars[index].value {
        case 0x200C, 0x200D: return isShown(index - 1) && isShown(index + 1)
        default: return scalars[index].isVariationSelector && isShown(index - 1)
        }
    }
}

extension String {
    /// The text in quotes, as messages show a text from outside.
    package var quoted: String { "\"" + Printable.visible(self) + "\"" }
}

extension Substring {
    /// The text in quotes, as messages show a text from outside.
    package var quoted: String { String(self).quoted }
}

extension Unicode.Scalar {
    /// Whether a reader does not see the character, or takes it for a blank (Unicode, Default_Ignorable_Code_Point and the category
    /// Zs), and it is not ``isHarmful`` either.
    fileprivate var isUnseen: Bool {
        if value < 0x80 || isHarmful { return false }
        // The blank of Braille has no dots.
        if value == 0x2800 || properties.generalCategory == .spaceSeparator { return true }
        return properties.isDefaultIgnorableCodePoint
    }

    fileprivate var isVariationSelector: Bool { (0xFE00...0xFE0F).contains(value) }
}
