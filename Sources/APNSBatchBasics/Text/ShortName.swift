/// A name that can be a part of a path and of a label: 1 to 40 characters of `a-z`, `0-9`, `_` and `-`.
package enum ShortName {
    /// The form, as messages say it.
    package static let form = "1 to \(lengthMax) characters of a-z, 0-9, _ and -"
    private static let lengthMax = 40

    package static func isOne(_ text: String) -> Bool {
        1...lengthMax ~= text.unicodeScalars.count && text.unicodeScalars.allSatisfy(isAllowed)
    }

    /// Returns the name that a text becomes: lower-case letters replace capital ones, and hyphens what a name cannot contain.
    package static func made(of text: String) -> String {
        let scalars = text.lowercased().unicodeScalars.map { isAllowed($0) ? $0 : "-" }
        return String(String.UnicodeScalarView(scalars.prefix(lengthMax)))
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        "a"..."z" ~= scalar || "0"..."9" ~= scalar || scalar == "_" || scalar == "-"
    }
}
