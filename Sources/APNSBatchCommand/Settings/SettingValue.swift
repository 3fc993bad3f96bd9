import APNSBatchBasics

/// The value of a setting as it was given.
enum SettingValue: Codable, Equatable, Sendable {
    case number(Int)
    case text(String)
    case list([SettingValue])
    case members([String: SettingValue])

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let number = try? value.decode(Int.self) {
            self = .number(number)
        } else if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let list = try? value.decode([SettingValue].self) {
            self = .list(list)
        } else {
            self = .members(try value.decode([String: SettingValue].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .number(let number): try value.encode(number)
        case .text(let text): try value.encode(text)
        case .list(let list): try value.encode(list)
        case .members(let members): try value.encode(members)
        }
    }

    var number: Int? { if case .number(let number) = self { number } else { nil } }
    var text: String? { if case .text(let text) = self { text } else { nil } }
    var list: [SettingValue]? { if case .list(let list) = self { list } else { nil } }
    var members: [String: SettingValue]? { if case .members(let members) = self { members } else { nil } }
    /// The texts of a list.
    var texts: [String] { list?.compactMap(\.text) ?? [] }

    /// Returns the value with each text in it changed.
    func mapText(_ change: (String) -> String) -> SettingValue {
        switch self {
        case .number: self
        case .text(let text): .text(change(text))
        case .list(let list): .list(list.map { $0.mapText(change) })
        case .members(let members): .members(members.mapValues { $0.mapText(change) })
        }
    }

    /// Parses the text, or throws an error with what was expected.
    func parsed<T>(_ expected: String, _ parse: (String) -> T?) throws -> T {
        let text = text ?? ""
        guard let found = parse(text) else { throw UsageError("expected \(expected), found \(text.quoted)") }
        return found
    }
}
