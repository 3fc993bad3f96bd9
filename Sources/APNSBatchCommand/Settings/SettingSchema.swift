import APNSBatch
import Foundation

/// The JSON schema of campaign files, for editors. It is made from the table of settings.
enum SettingSchema {
    static func text() throws -> String {
        var schema = object(Setting.all.map(\.form))
        schema["$schema"] = "http://json-schema.org/draft-07/schema#"
        schema["title"] = "Campaign file of apns-batch \(ProductVersion.current)"
        let options: JSONSerialization.WritingOptions = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try JSONSerialization.data(withJSONObject: schema, options: options), as: UTF8.self)
    }

    private static func object(_ settings: [SettingForm]) -> [String: Any] {
        let properties = settings.map { ($0.key, property($0)) }
        return [
            "type": "object", "additionalProperties": false,
            "properties": Dictionary(properties) { first, _ in first },
        ]
    }

    /// A key without a value is ignored.
    private static func property(_ setting: SettingForm) -> [String: Any] {
        let description = setting.standard.map { "\(setting.help) (default: \($0))" } ?? setting.help
        return ["description": description, "anyOf": forms(setting) + [["type": "null"]]]
    }

    /// Returns the forms, one of which a value has.
    private static func forms(_ setting: SettingForm) -> [[String: Any]] {
        let texts = texts(setting)
        switch setting.kind {
        case .number(let number): return [integer(number.range)]
        case .whole: return [["type": "integer"]]
        case .text, .variable, .path: return texts
        case .pathOrPaths: return texts + [list(of: texts)]
        case .names, .paths, .texts, .command: return [list(of: texts)]
        case .shares, .pathsByName, .textsByName: return [["type": "object", "additionalProperties": ["anyOf": texts]]]
        case .listsByName: return [["type": "object", "additionalProperties": ["anyOf": texts + [list(of: texts)]]]]
        case .record(let table): return [object(table)]
        case .records(let table): return [["type": "array", "items": object(table)]]
        }
    }

    private static func list(of forms: [[String: Any]]) -> [String: Any] {
        ["type": "array", "items": ["anyOf": forms]]
    }

    private static func integer(_ range: ClosedRange<Int>) -> [String: Any] {
        var form: [String: Any] = ["type": "integer", "minimum": range.lowerBound]
        if range.upperBound < .max { form["maximum"] = range.upperBound }
        return form
    }

    /// A text may look like a number or a Boolean in YAML.
    private static func texts(_ setting: SettingForm) -> [[String: Any]] {
        let any: [String: Any] = ["type": ["string", "number", "boolean"]]
        guard !setting.words.isEmpty else { return [any] }
        let words: [String: Any] = ["enum": setting.words]
        return setting.otherwise == nil ? [words] : [words, any]
    }
}
