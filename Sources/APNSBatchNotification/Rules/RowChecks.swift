/// A field that must be within the range of the key it fills.
struct FieldCheck: Equatable {
    let column: Int
    let form: PayloadKeyForm
    /// Whether an empty field takes the key away, or leaves a default.
    let mayBeEmpty: Bool

    /// - Parameter field: fits its placeholder's type: the payload was rendered.
    @inline(__always)
    func isRight(_ field: UnsafeRawBufferPointer, isLiveActivity: Bool) -> Bool {
        guard let address = field.baseAddress, !field.isEmpty else { return mayBeEmpty }
        let bytes = address.assumingMemoryBound(to: UInt8.self)
        if case .interruptionLevel = form { return KeyJudge.isChoice(bytes, field.count, form) }
        return KeyJudge.number(bytes, field.count, form, isLiveActivity) == nil
    }
}

/// What of a template is left for each row to decide.
struct RowChecks: Equatable {
    /// The payload must be scanned; what follows is not looked at then.
    var needsScan = false
    var fields: [FieldCheck] = []
    /// Columns of which one at least must hold something, or nothing is shown.
    var shownTexts: [Int] = []

    var isEmpty: Bool { !needsScan && fields.isEmpty && shownTexts.isEmpty }
}

extension RowChecks {
    /// What the values of keys leave open; what the push type asks for is ``TemplateRules``'s affair.
    init(_ root: TemplateNode, isLiveActivity: Bool) {
        guard let aps = root.member("aps") else { return }
        add(aps.node, .aps, isLiveActivity)
        if aps.node.field?.type == .json { needsScan = true }
    }

    private mutating func add(_ node: TemplateNode, _ parent: PayloadKey.Parent, _ isLiveActivity: Bool) {
        guard case .object(let members) = node.value else { return }
        for member in members {
            let key = PayloadKey.all(in: parent).first { member.key.elementsEqual($0.name.utf8) }
            guard let key else { continue }
            switch (parent, key.name, member.node.value) {
            case (.aps, "alert", .object): add(member.node, .alert, isLiveActivity)
            case (.aps, "sound", .object): add(member.node, .sound, isLiveActivity)
            default: add(member.node, key.form, isLiveActivity)
            }
        }
    }

    private mutating func add(_ node: TemplateNode, _ form: PayloadKeyForm, _ isLiveActivity: Bool) {
        switch node.value {
        case .field(let placeholder): add(placeholder, form, isLiveActivity)
        case .array(let elements) where form == .texts || form == .textsOrNull:
            if elements.contains(where: { $0.field?.type == .json }) { needsScan = true }
        case .string(let pieces) where !form.choices.isEmpty && !node.placeholders.isEmpty:
            if form == .interruptionLevel, pieces.count == 1, let placeholder = pieces[0].placeholder {
                fields.append(
                    FieldCheck(column: placeholder.column, form: form, mayBeEmpty: placeholder.mayBeEmpty))
            } else {
                needsScan = true
            }
        default: break
        }
    }

    private mutating func add(_ placeholder: TemplatePlaceholder, _ form: PayloadKeyForm, _ isLiveActivity: Bool) {
        switch (placeholder.type, form) {
        case (.json, _), (.bool, .isTrue), (.bool, .zeroOneOrTrue): needsScan = true
        case (.number, .score) where isLiveActivity: break
        case (.number, .count), (.number, .fraction), (.number, .score), (.number, .seconds), (.number, .one),
            (.number, .zeroOrOne), (.number, .zeroOneOrTrue):
            fields.append(FieldCheck(column: placeholder.column, form: form, mayBeEmpty: placeholder.mayBeEmpty))
        default: break
        }
    }
}
