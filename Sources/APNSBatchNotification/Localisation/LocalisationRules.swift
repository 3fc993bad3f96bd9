/// The rules of localised texts for one template, or for raw payloads: every `loc-key` stands in each language of the app
/// and takes as many arguments as the payload gives.
package struct LocalisationRules: Sendable {
    private let strings: LocalisedStrings
    private let template: PayloadTemplate?
    /// Names such as `loc-key` of which the template alone decides.
    private let settled: Set<String>
    /// What holds for every row.
    package let templateFindings: [TemplateFinding]
    /// Whether rows must be looked at: fields make a key or the number of its arguments.
    package let needsRow: Bool

    /// - Parameter template: nil for raw payloads.
    package init(_ strings: LocalisedStrings, template: PayloadTemplate?) {
        self.strings = strings
        self.template = template
        guard let template else {
            settled = []
            templateFindings = []
            needsRow = true
            return
        }
        let alert = AlertTexts(template.root)
        settled = Set(alert.fixed.map(\.name))
        templateFindings = alert.fixed.flatMap { entry in
            strings.faults(of: entry.key, arguments: entry.arguments).map {
                template.finding(Self.located($0, entry.name))
            }
        }
        needsRow = alert.isOpen
    }

    /// What is wrong with a row's payload, apart from what ``templateFindings`` say of all.
    package func findings(
        _ payload: UnsafeRawBufferPointer, fields: UnsafeBufferPointer<UnsafeRawBufferPointer>
    ) -> [PayloadFinding] {
        guard needsRow else { return [] }
        return unsafe LocalisedKeys(payload).entries.filter { !settled.contains($0.name) }.flatMap { entry in
            strings.faults(of: entry.key, arguments: entry.arguments).map { fault in
                let located = Self.located(fault, entry.name)
                return unsafe PayloadFinding(
                    rule: located.rule, column: template?.column(of: located, fields), message: located.message)
            }
        }
    }

    private static func located(_ fault: LocalisationFault, _ name: String) -> LocatedFinding {
        let rule: Rule = if case .missing = fault { .locKeyMissing } else { .locKeyArgs }
        return LocatedFinding(rule: rule, path: ["aps", "alert", name], message: "aps.alert.\(name): \(fault.message)")
    }
}

/// The localised texts of a template's alert.
private struct AlertTexts {
    /// The texts that are the same for every row.
    private(set) var fixed: [LocalisedKeys.Entry] = []
    /// Whether there may be others, made by fields.
    private(set) var isOpen = false

    init(_ root: TemplateNode) {
        let alert = root.nearest(["aps", "alert"])
        guard alert.field == nil else {
            isOpen = true
            return
        }
        guard root.member("aps")?.node.member("alert") != nil else { return }
        for (name, arguments) in LocalisedKeys.pairs { add(name, alert.member(name), alert.member(arguments)) }
    }

    private mutating func add(_ name: String, _ key: TemplateMember?, _ arguments: TemplateMember?) {
        guard let key else { return }
        guard let text = key.node.fixedText, let count = arguments.map(\.node.fixedCount) ?? 0 else {
            // Null is no key; anything else that is no text is for the rules of types.
            if !key.node.placeholders.isEmpty || arguments?.node.placeholders.isEmpty == false { isOpen = true }
            return
        }
        fixed.append(LocalisedKeys.Entry(name: name, key: text, arguments: count))
    }
}

extension TemplateNode {
    /// The text of a string without placeholders; nil for anything else.
    fileprivate var fixedText: String? {
        guard case .string(let pieces) = value, placeholders.isEmpty else { return nil }
        return pieces.reduce(into: "") { text, piece in
            if case .text(let bytes) = piece { text += String(decoding: bytes, as: UTF8.self) }
        }
    }

    /// How many elements an array has in every row; 0 for null; nil where fields decide.
    fileprivate var fixedCount: Int? {
        switch value {
        case .array(let elements): elements.contains(where: \.isOptional) ? nil : elements.count
        case .field: nil
        default: isOptional ? nil : 0
        }
    }
}
