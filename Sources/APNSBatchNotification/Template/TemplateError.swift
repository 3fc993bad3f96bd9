import APNSBatchBasics

/// Why a template cannot be used, with the place of the error.
///
/// As text: `payload.json:4:18: unknown column "frist_name"; did you mean "first_name"?`
package struct TemplateError: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Cause: Error, Equatable {
        /// The template is not strict JSON; the fault and its message.
        case json(JSONFault, String)
        /// The input has no column of this name.
        case unknownColumn(String, known: [String])
        case unknownType(String)
        /// `{{}}`, or a placeholder with only a type.
        case missingName
        /// `{{` without `}}` after it in the same string.
        case unclosedPlaceholder
        /// `}}` without `{{` before it.
        case strayClose
        /// `{{{`, which other template languages have.
        case tripleBrace
        /// A number, bool or json placeholder in a string with other text.
        case typedInText(FieldType)
        case placeholderInKey
        /// `{{name|{{other}}}}`.
        case placeholderInDefault
        /// `{{name|}}`.
        case emptyDefault
        /// `{{name?|text}}`.
        case defaultOfOptional
        /// A default that is not a value of the placeholder's type.
        case badDefault(String, found: String)
        /// `{{` where a value belongs.
        case unquotedPlaceholder
        case duplicateKey(String)
        /// What another template language would evaluate.
        case foreign(ForeignSyntax)
        /// The template is larger than ``PayloadTemplate/sizeLimit``.
        case tooLarge
        /// A key to encrypt that the template does not have.
        case noKeyToEncrypt(String, known: [String])
        /// A key that cannot be encrypted.
        case keyInTheClear(String)
        /// A key in the template that encryption itself adds.
        case keyOfEncryption(String)
        /// `aps` is not an object, so that `mutable-content` cannot be added.
        case apsNoObject
        /// Encryption needs `mutable-content` in every row.
        case openMutableContent
    }

    package let file: String
    /// Counted from 1.
    package let line: Int
    /// Counted from 1, in characters (Unicode scalars).
    package let column: Int
    package let cause: Cause

    package var description: String { "\(file):\(line):\(column): \(cause.message)" }
}

extension TemplateError.Cause {
    package var message: String {
        switch self {
        case .json(_, let message): return message
        case .unknownColumn(let name, let known): return Self.unknownColumn(name, known)
        case .unknownType(let name): return "unknown type \(name.quoted); there are text, number, bool and json"
        case .missingName: return "this placeholder names no column"
        case .unclosedPlaceholder: return "this placeholder is never closed; \"{{{{\" stands for a literal \"{{\""
        case .strayClose: return "\"}}\" closes nothing; \"}}}}\" stands for a literal \"}}\""
        case .tripleBrace: return "a placeholder opens with two braces; \"{{{{\" stands for a literal \"{{\""
        case .typedInText(let type): return "a \(type.rawValue) placeholder must be the whole string"
        case .unquotedPlaceholder:
            return "a placeholder must be in a string; write \"{{name:number}}\" for a value of another type"
        case .placeholderInDefault: return "a default is plain text; \"{{{{\" stands for a literal \"{{\""
        case .emptyDefault: return "there is no default after the \"|\""
        case .defaultOfOptional: return "a placeholder has a \"?\" or a default, not both"
        case .badDefault(let wanted, let found): return "this default must be \(wanted), found \(found)"
        case .placeholderInKey: return "a placeholder cannot be in a key"
        case .duplicateKey(let key): return "the key \(key.quoted) occurs twice in this object"
        case .foreign(let syntax): return syntax.message
        case .tooLarge: return "the template is larger than \(PayloadTemplate.sizeLimit) bytes"
        case .noKeyToEncrypt(let key, let known): return Self.noKeyToEncrypt(key, known)
        case .keyInTheClear(let key): return "the key \(key.quoted) cannot be encrypted"
        case .keyOfEncryption(let key): return "the key \(key.quoted) is added by encryption; leave it out"
        case .openMutableContent: return "an encrypted payload needs \"mutable-content\" in every row; write 1"
        case .apsNoObject: return "\"aps\" must be an object, since encryption adds \"mutable-content\" to it"
        }
    }

    private static func noKeyToEncrypt(_ key: String, _ known: [String]) -> String {
        let start = "there is no key \(key.quoted) to encrypt; "
        if let near = NearestName.find(key, in: known) { return start + "did you mean \(near.quoted)?" }
        return start + "there are " + known.map(\.quoted).joined(separator: ", ")
    }

    private static func unknownColumn(_ name: String, _ known: [String]) -> String {
        let start = "unknown column \(ColumnNames.quoted(name)); "
        if let near = NearestName.find(name, in: known) { return start + "did you mean \(near.quoted)?" }
        if known.isEmpty { return start + "the input has no columns" }
        return start + "the input has " + ColumnNames.list(known)
    }
}
