extension TemplateNode {
    /// The member of that name, if this is an object that has it.
    func member(_ name: String) -> TemplateMember? {
        guard case .object(let members) = value else { return nil }
        return members.first { $0.key.elementsEqual(name.utf8) }
    }

    /// The value at a path, or as far down as the template has one of its own: below a json placeholder it is the
    /// placeholder.
    func nearest(_ path: some Sequence<String>) -> TemplateNode {
        var node = self
        for name in path {
            guard let member = node.member(name) else { return node }
            node = member.node
        }
        return node
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

extension PayloadTemplate {
    /// A finding with its place in the template.
    func finding(_ located: LocatedFinding) -> TemplateFinding {
        let place = TextPlace(offset: offset(of: located), in: source)
        return TemplateFinding(
            rule: located.rule, file: file, line: place.line, column: place.column, message: located.message)
    }

    /// The place of the key where it should not be there, else of its value.
    private func offset(of finding: LocatedFinding) -> Int {
        let node = root.nearest(finding.path)
        guard let name = finding.path.last else { return node.offset }
        switch finding.rule {
        case .unknownApsKey, .unknownAlertKey, .unknownSoundKey, .duplicateKey, .backgroundShows:
            return root.nearest(finding.path.dropLast()).member(name)?.offset ?? node.offset
        default: return node.offset
        }
    }

    /// The column whose field is at fault: the first that fills the value, or, where a text is missing, the alert.
    func column(of finding: LocatedFinding, _ fields: UnsafeBufferPointer<UnsafeRawBufferPointer>) -> Int? {
        switch finding.rule {
        case .payloadSize, .apsMissing: return nil
        case .alertNothingToShow:
            let aps = root.nearest(finding.path)
            if let field = aps.field { return field.column }
            return ["alert", "sound", "badge"].compactMap { aps.member($0)?.node.placeholders.first?.column }.first
        case .cardNumber:
            let columns = root.nearest(finding.path).placeholders.map(\.column)
            return columns.first { unsafe CardNumber.isHeld(in: fields[$0]) } ?? columns.first
        default: return fillingColumn(at: finding.path)
        }
    }

    private func fillingColumn(at path: [String]) -> Int? {
        let node = root.nearest(path)
        // A key that the template does not have is no field's fault, unless the field is the object around it.
        if node.field == nil, let name = path.last, root.nearest(path.dropLast()).member(name) == nil { return nil }
        return node.placeholders.first?.column
    }
}
