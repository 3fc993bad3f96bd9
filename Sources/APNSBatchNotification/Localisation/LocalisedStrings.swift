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
                    .arguments("\"\(key)\" has \(foreign) in \(language.name), and a push has arguments for %@ only"))
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
