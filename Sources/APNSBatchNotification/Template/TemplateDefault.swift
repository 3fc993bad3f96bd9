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
        let found = text.withUnsafeBytes { FoundText.quoted($0) }
        switch type {
        case .text, .json: return text
        case .number:
            let isNumber = text.withUnsafeBufferPointer { NumberField.isValid($0.baseAddress!, $0.count) }
            guard isNumber else { throw .badDefault("a number", found: found) }
            return text
        case .bool:
            let value = text.withUnsafeBufferPointer { BoolField.parse($0.baseAddress!, $0.count) }
            guard let value else { throw .badDefault("true or false", found: found) }
            return Array(value ? "true".utf8 : "false".utf8)
        }
    }

    /// The same with a default that is JSON checked, and in its shortest form.
    ///
    /// - Parameter depth: levels of objects and arrays around the placeholder.
    func withShortestDefault(depth: Int) throws(TemplateError.Cause) -> TemplatePlaceholder {
        guard type == .json, let text = defaultText else { return self }
        var shortest: [UInt8]?
        text.withUnsafeBytes { json in
            shortest = [UInt8](unsafeUninitializedCapacity: json.count) { out, count in
                var scanner = JSONScanner(json, top: .anyValue, depthAbove: depth)
                let end = out.baseAddress.flatMap { PayloadCompactor.write(&scanner, to: $0) }
                count = end.map { $0 - out.baseAddress! } ?? 0
            }
        }
        guard let shortest, !shortest.isEmpty else {
            throw .badDefault("JSON", found: text.withUnsafeBytes { FoundText.quoted($0) })
        }
        var placeholder = self
        placeholder.defaultText = shortest
        return placeholder
    }
}
