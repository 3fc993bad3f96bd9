import APNSBatch

/// One setting of a campaign: a key of campaign files and, in most cases, a flag. ``groups`` lists all settings; flags, the
/// parsing of campaign files and the table in docs/reference/settings.md are generated from it.
struct Setting: Sendable {
    enum Kind: Sendable {
        /// A whole number in the range of the ``Campaign/Number`` of the same name.
        case number(Campaign.Number)
        /// Any other whole number.
        case whole
        case text
        /// A path, relative to the campaign file that holds it.
        case path
        /// A path, or a list of paths. The flag is repeatable.
        case pathOrPaths
        /// A list of names. A flag separates them by commas, and is repeatable.
        case names
        /// A list of paths. The flag is repeatable.
        case paths
        /// A list of texts. The flag is repeatable.
        case texts
        /// A program and its arguments. The program is a path, relative to the campaign file, if it has a slash.
        case command
        /// Texts by name. The flag, `NAME=TEXT`, is repeatable.
        case shares
        /// Paths by name.
        case pathsByName
        /// Texts by name, which are no flag.
        case textsByName
        /// A text, or a list of texts, by name.
        case listsByName
        /// Keys and values.
        case record([Setting])
        case records([Setting])
    }

    typealias Apply = @Sendable (inout Campaign, SettingValue) throws -> Void

    /// The name, such as `keyFile`. The ledger stores the settings of a run under these names.
    let name: String
    let kind: Kind
    let help: String
    /// The default, as the help shows it.
    let standard: String?
    let hasFlag: Bool
    let isHidden: Bool
    /// Alternatives to this setting. They have no effect if this one is given in a place of higher precedence.
    let replaces: [String]
    /// The name in messages of the library, if it is not the key.
    let calledBy: String?
    /// The fixed words that a text, or each item of a list, can be; empty if there are none.
    let words: [String]
    /// What a text can be besides these words, such as `HOST:PORT`; nil if it must be one of them.
    let otherwise: String?
    /// Applies this setting to a campaign; nil for settings that are read together with others.
    let apply: Apply?

    init(
        _ name: String, _ kind: Kind, standard: String? = nil, hasFlag: Bool = true, isHidden: Bool = false,
        replaces: [String] = [], calledBy: String? = nil, words: [String] = [], otherwise: String? = nil,
        _ help: String, apply: Apply? = nil
    ) {
        (self.name, self.kind, self.standard, self.help) = (name, kind, standard, help)
        (self.words, self.otherwise) = (words, otherwise)
        (self.hasFlag, self.isHidden) = (hasFlag, isHidden)
        (self.replaces, self.calledBy, self.apply) = (replaces, calledBy, apply)
    }

    /// Creates a setting for the ``Campaign/Number`` of the same name.
    init(_ name: String, standard: String? = nil, isHidden: Bool = false, _ help: String) {
        let called = SettingName.key(name).replacing("_", with: " ")
        guard let number = Campaign.Number.all.first(where: { $0.name == called }) else {
            preconditionFailure("no number of a campaign is called \(called)")
        }
        let standard = standard ?? number.standard.map { String($0) }
        self.init(name, .number(number), standard: standard, isHidden: isHidden, help) {
            try number.set($1.number ?? 0, in: &$0)
        }
    }

    /// The key in campaign files, such as `key_file`.
    var key: String { SettingName.key(name) }

    var flagHelp: String {
        let text = isRepeatable ? "\(help) Repeatable." : help
        return standard.map { "\(text) (default: \($0))" } ?? text
    }

    /// Whether the flag may be given several times, which makes a list.
    var isRepeatable: Bool {
        switch kind {
        case .pathOrPaths, .names, .paths, .texts, .shares: true
        default: false
        }
    }

    static let all = groups.flatMap(\.settings)
    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    static func named(_ name: String) -> Setting? { byName[name] }
}

/// The three spellings of a setting's name.
enum SettingName {
    /// `keyFile` → `key_file`.
    static func key(_ name: String) -> String {
        name.reduce(into: "") { $0 += $1.isUppercase ? "_" + $1.lowercased() : String($1) }
    }

    /// `keyFile` → `--key-file`.
    static func flag(_ name: String) -> String { "--" + key(name).replacing("_", with: "-") }
}

extension Setting {
    static var markdown: String {
        groups.map { group in
            "### \(group.title)\n\n| key | value | default | meaning |\n|---|---|---|---|\n"
                + group.settings.map(\.row).joined()
        }.joined(separator: "\n")
    }

    private var row: String {
        "| `\(key)` | \(valueText) | \(standard ?? "") | \(help.replacing("|", with: "\\|")) |\n"
    }
}

extension Setting {
    /// A description of the values: the words, if they are all.
    var valueText: String {
        guard case .text = kind, !words.isEmpty, otherwise == nil else { return kind.text }
        return WordList.text(words)
    }
}

extension Setting.Kind {
    /// A description of the values.
    fileprivate var text: String {
        switch self {
        case .number(let number): number.rangeText
        case .whole: "whole number"
        case .text: "text"
        case .path: "path"
        case .pathOrPaths: "path, or list of paths"
        case .names: "list of names"
        case .paths: "list of paths"
        case .texts: "list of texts"
        case .command: "list: program and arguments"
        case .shares: "texts by name"
        case .pathsByName: "paths by name"
        case .textsByName: "texts by name"
        case .listsByName: "text, or list of texts, by name"
        case .record(let settings): "keys and values: \(Self.keys(settings))"
        case .records(let settings): "list of keys and values: \(Self.keys(settings))"
        }
    }

    private static func keys(_ settings: [Setting]) -> String { settings.map { "`\($0.key)`" }.joined(separator: ", ") }
}
