extension TemplateNode {
    /// The member of that name, if this is an object that has it.
    func member(_ name: String) -> TemplateMember? {
        guard case .object(let members) = value else { return nil }
        return members.first { $0.key.elementsEqual(name.utf8) }
    }

    /// The value at a path, or as far down as the template has one of its own: below a json placeholder it is the
    /// placeholder.
    func nearest(_ path: [String]) -> TemplateNode {
        guard let name = path.first else { return self }
        return member(name)?.node.nearest(Array(path.dropFirst())) ?? self
    }

    /// The placeholders in it, in their order.
    var placeholders: [TemplatePlaceholder] {
        switch value {
        case .object(let members): members.flatMap(\.node.placeholders)
        case .array(let elements): elements.flatMap(\.placeholders)
        case .string(let pieces): pieces.compactMap(\.placeholder)
        case .field(let placeholder): [placeholder]
        case .scalar: []
        }
    }

    /// The placeholder that is the whole value, of a type other than text.
    var field: TemplatePlaceholder? {
        if case .field(let placeholder) = value { return placeholder }
        return nil
    }

    var isOptional: Bool { !optionalColumns.isEmpty }
}

extension TemplatePiece {
    var placeholder: TemplatePlaceholder? {
        if case .placeholder(let placeholder) = self { return placeholder }
        return nil
    }
}
