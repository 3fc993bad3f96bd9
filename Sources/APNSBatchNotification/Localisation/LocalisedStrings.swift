/// The texts of an app in all its languages, to hold the `loc-key`s of payloads against.
package struct LocalisedStrings: Sendable {
    private struct Language: Sendable {
        let name: String
        let formats: [String: LocalisedFormat]
    }

    private let languages: [Language]

    /// - Parameter files: language and texts; the same language may come several times.
    package init(_ files: [(language: String, file: StringsFile)]) {
        var texts: [String: [String: String]] = [:]
        for (language, file) in files { texts[language, default: [:]].merge(file.texts) { _, later in later } }
        languages = texts.sorted { $0.key < $1.key }
            .map { Language(name: $0.key, formats: $0.value.mapValues(LocalisedFormat.init)) }
    }

    package var isEmpty: Bool { languages.isEmpty }

    /// What is wrong with a key and its number of arguments, in words; empty when every language has the key and takes
    /// as many. For instance `no "GAME" in the strings of de, fr`.
    package func faults(of key: String, arguments: Int) -> [LocalisationFault] {
        var faults: [LocalisationFault] = []
        let without = languages.filter { $0.formats[key] == nil }.map(\.name)
        if !without.isEmpty {
            faults.append(.missing("no \"\(key)\" in the strings of \(without.joined(separator: ", "))"))
        }
        for language in languages {
            guard let format = language.formats[key] else { continue }
            if let foreign = format.foreign {
                faults.append(
                    .arguments("\"\(key)\" has \(foreign) in \(language.name), but a push can only fill %@"))
            } else if format.arguments != arguments {
                let takes = format.arguments == 1 ? "1 argument" : "\(format.arguments) arguments"
                faults.append(.arguments("\"\(key)\" takes \(takes) in \(language.name), found \(arguments)"))
            }
        }
        return faults
    }
}

/// A `loc-key` that does not fit the app's strings.
package enum LocalisationFault: Equatable, Sendable {
    case missing(String)
    case arguments(String)

    package var message: String {
        switch self {
        case .missing(let message), .arguments(let message): message
        }
    }
}

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
