import APNSBatchBasics

/// The texts of an app in all its languages, against which the `loc-key`s of payloads are checked.
package struct LocalisedStrings: Sendable {
    private struct Language: Sendable {
        let name: String
        let formats: [String: LocalisedFormat]
    }

    private let languages: [Language]

    /// - Parameter files: languages and their texts. A language may occur several times.
    package init(_ files: [(language: String, file: StringsFile)]) {
        var texts: [String: [String: String]] = [:]
        for (language, file) in files { texts[language, default: [:]].merge(file.texts) { _, later in later } }
        languages = texts.sorted { $0.key < $1.key }
            .map { Language(name: $0.key, formats: $0.value.mapValues(LocalisedFormat.init)) }
    }

    package var isEmpty: Bool { languages.isEmpty }

    /// Returns the faults of a key and its number of arguments, for example `no "GAME" in the strings of de, fr`; empty if
    /// every language has the key and takes that number of arguments.
    package func faults(of key: String, arguments: Int) -> [LocalisationFault] {
        var faults: [LocalisationFault] = []
        let without = languages.filter { $0.formats[key] == nil }.map(\.name)
        if !without.isEmpty {
            faults.append(.missing("no \(key.quoted) in the strings of \(without.joined(separator: ", "))"))
        }
        for language in languages {
            guard let format = language.formats[key] else { continue }
            if let foreign = format.foreign {
                faults.append(
                    .arguments("\(key.quoted) has \(foreign) in \(language.name), but a push can only fill %@"))
            } else if format.arguments != arguments {
                let takes = format.arguments == 1 ? "1 argument" : "\(format.arguments) arguments"
                faults.append(.arguments("\(key.quoted) takes \(takes) in \(language.name), found \(arguments)"))
            }
        }
        return faults
    }
}

/// A mismatch between a `loc-key` and the app's strings.
package enum LocalisationFault: Equatable, Sendable {
    case missing(String)
    case arguments(String)

    package var message: String {
        switch self {
        case .missing(let message), .arguments(let message): message
        }
    }
}

/// The arguments of a localised text: `%@` takes the next argument, `%2$@` the second, and `%%` is a percent sign.
///
/// Source: Apple, "Generating a remote notification" (`loc-args` replace `%@` and `%n$@`).
struct LocalisedFormat: Equatable {
    /// The number of arguments it takes, which is the highest number it refers to.
    let arguments: Int
    /// The first specifier that does not take a string, such as `%d`. The arguments of a push are strings.
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

    /// Reads digits, `$` and flags, and the letter that ends them.
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

    /// Returns the position in a specifier: 2 for `2$@`.
    private static func position(_ specifier: String) -> Int? {
        guard specifier.hasSuffix("$@"), let number = Int(specifier.dropLast(2)), 1...99 ~= number else { return nil }
        return number
    }
}
