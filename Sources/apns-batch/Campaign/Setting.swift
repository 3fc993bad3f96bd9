import APNSBatch

/// One setting of a campaign: a key of campaign files and, in most cases, a flag. All of them stand in ``groups``; flags, the
/// reading of campaign files and the table in docs/campaigns.md follow from that.
struct Setting: Sendable {
    /// What a value may be.
    enum Kind: Sendable {
        /// A ``Campaign/Number`` of the same name, which has the range.
        case number(Campaign.Number)
        /// Any other whole number.
        case whole
        case text
        /// Relative to the campaign file it stands in.
        case path
        /// A flag has one text with commas.
        case names
        /// A flag may be given several times.
        case paths
        /// Texts by name. A flag, `NAME=TEXT`, may be given several times.
        case shares
        /// Paths by name.
        case pathsByName
        /// Keys and values.
        case record([Setting])
        case records([Setting])
    }

    typealias Apply = @Sendable (inout Campaign, SettingValue) throws -> Void

    /// `keyFile`; the ledger has the settings of a run under these names.
    let name: String
    let kind: Kind
    let help: String
    /// What holds where nobody says anything.
    let standard: String?
    let hasFlag: Bool
    let isHidden: Bool
    /// Other settings that say the same thing in another way: where this one is given closer by, they are out of force.
    let replaces: [String]
    /// What the library calls it in messages, if not by its key.
    let calledBy: String?
    /// Gives a campaign this setting; nil for those that are read together with others.
    let apply: Apply?

    init(
        _ name: String, _ kind: Kind, standard: String? = nil, hasFlag: Bool = true, isHidden: Bool = false,
        replaces: [String] = [], calledBy: String? = nil, _ help: String, apply: Apply? = nil
    ) {
        (self.name, self.kind, self.standard, self.help) = (name, kind, standard, help)
        (self.hasFlag, self.isHidden) = (hasFlag, isHidden)
        (self.replaces, self.calledBy, self.apply) = (replaces, calledBy, apply)
    }

    /// A ``Campaign/Number`` of the same name.
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

    /// `key_file`.
    var key: String { SettingName.key(name) }

    /// The help of its flag.
    var flagHelp: String { standard.map { "\(help) (default: \($0))" } ?? help }

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
    /// All settings as a table in Markdown.
    static var markdown: String {
        groups.map { group in
            "### \(group.title)\n\n| key | value | default | what it says |\n|---|---|---|---|\n"
                + group.settings.map(\.row).joined()
        }.joined(separator: "\n")
    }

    private var row: String {
        "| `\(key)` | \(kind.text) | \(standard ?? "") | \(help.replacing("|", with: "\\|")) |\n"
    }
}

extension Setting.Kind {
    /// What a value may be, for people.
    fileprivate var text: String {
        switch self {
        case .number(let number): number.rangeText
        case .whole: "whole number"
        case .text: "text"
        case .path: "path"
        case .names: "list of names"
        case .paths: "list of paths"
        case .shares: "texts by name"
        case .pathsByName: "paths by name"
        case .record(let settings): "keys and values: \(Self.keys(settings))"
        case .records(let settings): "list of keys and values: \(Self.keys(settings))"
        }
    }

    private static func keys(_ settings: [Setting]) -> String { settings.map { "`\($0.key)`" }.joined(separator: ", ") }
}
