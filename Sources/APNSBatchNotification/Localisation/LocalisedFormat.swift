/// What a localised text wants filled in: `%@` takes the next argument, `%2$@` the second, `%%` is a percent sign.
///
/// Source: Apple, "Generating a remote notification" (`loc-args` replace `%@` and `%n$@`).
struct LocalisedFormat: Equatable {
    /// Arguments it takes: the highest number that it asks for.
    let arguments: Int
    /// The first specifier that takes something other than a text, such as `%d`: a push's arguments are strings.
    let foreign: String?

    init(_ text: String) {
        var sequential = 0
        var highest = 0
        var foreign: String?
        var rest = Substring(text).unicodeScalars[...]
        while let percent = rest.firstIndex(of: "%") {
            rest = rest[rest.index(after: percent)...]
            let specifier = Self.specifier(&rest)
            switch specifier {
            case "%": continue
            case "@":
                sequential += 1
                highest = max(highest, sequential)
            default:
                if let number = Self.position(specifier) {
                    highest = max(highest, number)
                } else if foreign == nil {
                    foreign = "%" + specifier
                }
            }
        }
        arguments = highest
        self.foreign = foreign
    }

    /// Digits, `$` and flags, and the letter that ends them.
    private static func specifier(_ rest: inout Substring.UnicodeScalarView) -> String {
        var specifier = String.UnicodeScalarView()
        while let scalar = rest.first {
            rest.removeFirst()
            specifier.append(scalar)
            let goesOn = ("0"..."9").contains(scalar) || "$+-#. lhq".unicodeScalars.contains(scalar)
            if !goesOn { break }
        }
        return String(specifier)
    }

    /// `2$@` → 2.
    private static func position(_ specifier: String) -> Int? {
        guard specifier.hasSuffix("$@"), let number = Int(specifier.dropLast(2)), 1...99 ~= number else { return nil }
        return number
    }
}
