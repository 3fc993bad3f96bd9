/// How a field is written into the payload; the type after the colon of a placeholder.
package enum FieldType: String, Sendable {
    /// A JSON string, or a part of one. The default.
    case text
    /// A number according to RFC 8259, written unchanged.
    case number
    /// `true` or `false` in any case, or `1` or `0`.
    case bool
    /// Any JSON value, checked and written in its shortest form.
    case json
}

/// A placeholder: `{{column:type?}}` or `{{column:type|default}}`.
struct TemplatePlaceholder: Equatable {
    var column: Int
    var type: FieldType
    /// Whether the value that contains it is removed if the field is empty.
    var isOptional: Bool
    /// What replaces an empty field: unescaped text, or for other types JSON in its shortest form.
    var defaultText: [UInt8]?

    /// Whether an empty field is valid for any type.
    var mayBeEmpty: Bool { isOptional || defaultText != nil }
}

/// A part of a string in a template.
enum TemplatePiece: Equatable {
    /// Unescaped UTF-8.
    case text([UInt8])
    case placeholder(TemplatePlaceholder)
}

/// A value in a template. Rendering does not use this tree; rules find in it the keys and values of a payload, and their
/// places.
struct TemplateNode: Sendable {
    enum Value: Sendable {
        case object([TemplateMember])
        case array([TemplateNode])
        /// A string with any number of text placeholders.
        case string([TemplatePiece])
        /// A placeholder, of a type other than text, that makes up the whole value.
        case field(TemplatePlaceholder)
        /// A number, `true`, `false` or `null`, as in the source.
        case scalar([UInt8])
    }

    /// The offset in the template, in bytes.
    let offset: Int
    /// The number of levels of objects and arrays around the value.
    let depth: Int
    let value: Value

    /// The columns that must not be empty, or the value is removed.
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
    /// Sets the default to the text after the bar, if there is one, in the form in which it is written into payloads. JSON
    /// is kept unchanged, because its depth is not known here.
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

    /// Returns this placeholder with its default checked and in its shortest form, if that is JSON.
    ///
    /// - Parameter depth: the number of levels of objects and arrays around the placeholder.
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
