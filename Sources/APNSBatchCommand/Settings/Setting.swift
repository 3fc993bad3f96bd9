import APNSBatch
import APNSBatchBasics

/// What a value is called, and what it can be: that of a setting, or of a member of one, such as `webhooks`.
struct SettingForm: Sendable {
    enum Kind: Sendable {
        /// A whole number in the range of the ``Campaign/Number`` of the same name.
        case number(Campaign.Number)
        /// Any other whole number.
        case whole
        case text
        /// The name of an environment variable.
        case variable
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
        case record([SettingForm])
        case records([SettingForm])
    }

    /// The name, such as `keyFile`. The ledger stores the settings of a run under these names.
    let name: String
    let kind: Kind
    let help: String
    /// The default, as the help shows it.
    let standard: String?
    /// The fixed words that a text, or each item of a list, can be; empty if there are none.
    let words: [String]
    /// What a text can be besides these words, such as `HOST:PORT`; nil if it must be one of them.
    let otherwise: String?

    init(
        _ name: String, _ kind: Kind, standard: String? = nil, words: [String] = [], otherwise: String? = nil,
        _ help: String
    ) {
        (self.name, self.kind, self.standard, self.help) = (name, kind, standard, help)
        (self.words, self.otherwise) = (words, otherwise)
    }

    /// The key in campaign files, such as `key_file`.
    var key: String { SettingName.key(name) }
}

/// One setting of a campaign: a key of campaign files and, in most cases, a flag. ``groups`` lists all settings; flags, the
/// parsing of campaign files and the table in docs/reference/settings.md are generated from it.
struct Setting: Sendable {
    /// What a setting is about.
    enum Scope: Sendable {
        /// It determines the notifications, so that a run which was begun cannot be resumed with another value.
        case notification
        /// It is about how a run goes on, and what is made of it.
        case run
        /// It names paths, addresses or programs of this machine.
        case machine
        /// It names a credential, or is a part of one.
        case secret
    }

    typealias Kind = SettingForm.Kind
    typealias Apply = @Sendable (inout Campaign, SettingValue) throws -> Void

    let form: SettingForm
    let scope: Scope
    /// What becomes of it in a campaign whose rows are sent in parts.
    let parts: PartsFate
    /// Whether it may change in the campaign file while a run goes on (``LiveSettings``).
    let isLive: Bool
    let correction: CorrectionFate
    /// Whether it determines where the history of the campaign is, and whose it is.
    let findsHistory: Bool
    let hasFlag: Bool
    let isHidden: Bool
    /// Alternatives to this setting. They have no effect if this one is given in a place of higher precedence.
    let replaces: [String]
    /// The name in messages of the library, if it is not the key.
    let calledBy: String?
    /// Applies this setting to a campaign; nil for settings that are read together with others.
    let apply: Apply?

    /// Creates a setting of the command.
    init(
        _ name: String, _ kind: Kind, scope: Scope, parts: PartsFate, correction: CorrectionFate = .kept,
        isLive: Bool = false, findsHistory: Bool = false, standard: String? = nil, hasFlag: Bool = true,
        isHidden: Bool = false, replaces: [String] = [], calledBy: String? = nil, words: [String] = [],
        otherwise: String? = nil, _ help: String, apply: Apply? = nil
    ) {
        form = SettingForm(name, kind, standard: standard, words: words, otherwise: otherwise, help)
        (self.scope, self.parts, self.correction) = (scope, parts, correction)
        (self.isLive, self.findsHistory) = (isLive, findsHistory)
        (self.hasFlag, self.isHidden) = (hasFlag, isHidden)
        (self.replaces, self.calledBy, self.apply) = (replaces, calledBy, apply)
    }

    /// Creates a setting for the ``Campaign/Number`` or ``Campaign/Text`` of the same name, which has its grammar and default.
    ///
    /// - Parameters:
    ///   - kind: The kind of a text: a path, or a kind of list.
    ///   - standard: The default, if it depends on something else than the campaign.
    init(
        _ name: String, as kind: Kind = .text, scope: Scope, parts: PartsFate, correction: CorrectionFate = .kept,
        isLive: Bool = false, findsHistory: Bool = false, standard: String? = nil, isHidden: Bool = false,
        calledBy: String? = nil, _ help: String
    ) {
        let called = SettingName.key(name).replacing("_", with: " ")
        if let number = Campaign.Number.all.first(where: { $0.name == called }) {
            self.init(
                name, .number(number), scope: scope, parts: parts, correction: correction, isLive: isLive,
                standard: standard ?? number.standard.map { String($0) }, isHidden: isHidden, help
            ) { try number.set($1.number ?? 0, in: &$0) }
        } else if let text = Campaign.Text.all.first(where: { $0.name == called }) {
            self.init(
                name, kind, scope: scope, parts: parts, correction: correction, isLive: isLive,
                findsHistory: findsHistory, standard: standard ?? text.standard, isHidden: isHidden, calledBy: calledBy,
                words: text.words, otherwise: text.isOpen ? text.form : nil, help
            ) { try text.set($1.text.map { [$0] } ?? $1.texts, in: &$0) }
        } else {
            preconditionFailure("no number or text of a campaign is called \(called)")
        }
    }

    /// Whether the value is a path of one file or directory.
    var isPath: Bool { if case .path = kind { true } else { false } }
    var name: String { form.name }
    var kind: Kind { form.kind }
    var key: String { form.key }
    var standard: String? { form.standard }
    var words: [String] { form.words }
    var otherwise: String? { form.otherwise }

    var flagHelp: String {
        let text = isRepeatable ? "\(form.help) Repeatable." : form.help
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
                + group.settings.map(\.form.row).joined()
        }.joined(separator: "\n")
    }
}

extension SettingForm {
    fileprivate var row: String {
        "| `\(key)` | \(valueText) | \(standard ?? "") | \(help.replacing("|", with: "\\|")) |\n"
    }

    /// A description of the values: the words, if they are all.
    var valueText: String {
        guard case .text = kind, !words.isEmpty, otherwise == nil else { return kind.text }
        return WordList.text(words)
    }
}

extension SettingForm.Kind {
    /// A description of the values.
    fileprivate var text: String {
        switch self {
        case .number(let number): number.rangeText
        case .whole: "whole number"
        case .text, .variable: "text"
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

    private static func keys(_ members: [SettingForm]) -> String {
        members.map { "`\($0.key)`" }.joined(separator: ", ")
    }
}
