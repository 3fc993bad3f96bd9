extension TemplateNode {
    /// Returns the member of that name, if this is an object that has it.
    func member(_ name: String) -> TemplateMember? {
        guard case .object(let members) = value else { return nil }
        return members.first { $0.key.elementsEqual(name.utf8) }
    }

    /// Returns the value at a path, or its nearest ancestor that the template contains: below a json placeholder that is
    /// the placeholder.
    func nearest(_ path: some Sequence<String>) -> TemplateNode {
        var node = self
        for name in path {
            guard let member = node.member(name) else { return node }
            node = member.node
        }
        return node
    }

    /// The placeholders in this value, in order.
    var placeholders: [TemplatePlaceholder] {
        switch value {
        case .object(let members): members.flatMap(\.node.placeholders)
        case .array(let elements): elements.flatMap(\.placeholders)
        case .string(let pieces): pieces.compactMap(\.placeholder)
        case .field(let placeholder): [placeholder]
        case .scalar: []
        }
    }

    /// The placeholder, of a type other than text, that makes up the whole value.
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
    /// Converts a finding in a payload to one with a place in the template.
    func finding(_ located: LocatedFinding) -> TemplateFinding {
        let place = TextPlace(offset: offset(of: located), in: source)
        return TemplateFinding(
            rule: located.rule, file: file, line: place.line, column: place.column, message: located.message)
    }

    /// Returns the offset of the key if the key is at fault, else of its value.
    private func offset(of finding: LocatedFinding) -> Int {
        let node = root.nearest(finding.path)
        guard let name = finding.path.last else { return node.offset }
        switch finding.rule {
        case .unknownApsKey, .unknownAlertKey, .unknownSoundKey, .duplicateKey, .backgroundShows:
            return root.nearest(finding.path.dropLast()).member(name)?.offset ?? node.offset
        default: return node.offset
        }
    }

    /// Returns the column whose field is at fault: the first one in the value, or, if nothing is shown, in the alert, sound
    /// or badge.
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
        // A key that is missing in the template is not the fault of a field, unless the field is the object around it.
        if node.field == nil, let name = path.last, root.nearest(path.dropLast()).member(name) == nil { return nil }
        return node.placeholders.first?.column
    }
}
