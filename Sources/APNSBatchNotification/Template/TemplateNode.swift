/// What a field becomes in the payload; written after the colon of a placeholder.
package enum FieldType: String, Sendable {
    /// A JSON string, or part of one. The default.
    case text
    /// A number as RFC 8259 has it, emitted as it stands.
    case number
    /// `true` or `false` in any letter case, or `1` or `0`.
    case bool
    /// Any JSON value, checked and emitted in its shortest form.
    case json
}

/// `{{column:type?}}` or `{{column:type|default}}`
struct TemplatePlaceholder: Equatable {
    var column: Int
    var type: FieldType
    /// Whether the value that holds it goes when the field is empty.
    var isOptional: Bool
    /// What stands in the field's place when that is empty: unescaped text, or for the other types JSON in its shortest form.
    var defaultText: [UInt8]?

    /// Whether an empty field is right whatever the type.
    var mayBeEmpty: Bool { isOptional || defaultText != nil }
}

/// A part of a template's string.
enum TemplatePiece: Equatable {
    /// Unescaped UTF-8.
    case text([UInt8])
    case placeholder(TemplatePlaceholder)
}

/// A value of a template. The way of a row does without this tree; rules that look at keys and values of a payload find
/// both here, with their places.
struct TemplateNode: Sendable {
    enum Value: Sendable {
        case object([TemplateMember])
        case array([TemplateNode])
        /// A string with any number of text placeholders.
        case string([TemplatePiece])
        /// A placeholder that is the whole value, of a type other than text.
        case field(TemplatePlaceholder)
        /// A number, `true`, `false` or `null`, as it stands.
        case scalar([UInt8])
    }

    /// Bytes from the start of the template.
    let offset: Int
    /// Levels of objects and arrays around the value.
    let depth: Int
    let value: Value

    /// The columns of which none may be empty for the value to stay.
    var optionalColumns: [Int] {
        switch value {
        case .string(let pieces):
            return pieces.compactMap { piece in
                guard case .placeholder(let placeholder) = piece, placeholder.isOptional else { return nil }
                return placeholder.column
            }
        case .field(let placeholder): return placeholder.isOptional ? [placeholder.column] : []
        case .object, .array, .scalar: return []
        }
    }
}

struct TemplateMember: Sendable {
    /// Unescaped UTF-8.
    let key: [UInt8]
    let offset: Int
    let node: TemplateNode
}

extension TemplatePlaceholder {
    /// Takes what follows the bar, if there is one, as the default, in the form in which it is written into payloads. JSON
    /// stays as it is: how deep it stands is not known here.
    mutating func take(_ text: [UInt8]?) throws(TemplateError.Cause) {
        guard let text else { return }
        if isOptional { throw .defaultOfOptional }
        if text.isEmpty { throw .emptyDefault }
        defaultText = try Self.value(text, type)
    }

    private static func value(_ text: [UInt8], _ type: FieldType) throws(TemplateError.Cause) -> [UInt8] {
        let found = FoundText.quoted(text)
        switch type {
        case .text, .json: return text
        case .number:
            let isNumber = unsafe text.withUnsafeBufferPointer { unsafe NumberField.isValid($0.baseAddress!, $0.count) }
            guard isNumber else { throw .badDefault("a number", found: found) }
            return text
        case .bool:
            let value = unsafe text.withUnsafeBufferPointer { unsafe BoolField.parse($0.baseAddress!, $0.count) }
            guard let value else { throw .badDefault("true or false", found: found) }
            return Array(value ? "true".utf8 : "false".utf8)
        }
    }

    /// This placeholder with its default, if that is JSON, checked and in its shortest form.
    ///
    /// - Parameter depth: levels of objects and arrays around the placeholder.
    func withShortestDefault(depth: Int) throws(TemplateError.Cause) -> TemplatePlaceholder {
        guard type == .json, let text = defaultText else { return self }
        var shortest: [UInt8]?
        unsafe text.withUnsafeBytes { json in
            shortest = unsafe [UInt8](unsafeUninitializedCapacity: json.count) { out, count in
                var scanner = unsafe JSONScanner(json, top: .anyValue, depthAbove: depth)
                let end = unsafe out.baseAddress.flatMap { unsafe PayloadCompactor.write(&scanner, to: $0) }
                count = unsafe end.map { unsafe $0 - out.baseAddress! } ?? 0
            }
        }
        guard let shortest, !shortest.isEmpty else {
            throw .badDefault("JSON", found: FoundText.quoted(text))
        }
        var placeholder = self
        placeholder.defaultText = shortest
        return placeholder
    }
}
