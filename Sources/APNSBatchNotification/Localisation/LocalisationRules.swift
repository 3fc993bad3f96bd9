/// The rules for localised texts of a template, or of raw payloads: the strings of every language contain each `loc-key`,
/// and its format takes as many arguments as the payload gives.
package struct LocalisationRules: Sendable {
    private let strings: LocalisedStrings
    private let template: PayloadTemplate?
    /// Names such as `loc-key` that depend on the template only.
    private let settled: Set<String>
    /// The findings that hold for every row.
    package let templateFindings: [TemplateFinding]
    /// Whether rows must be checked, because fields determine a key or the number of its arguments.
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

    /// Returns the findings in a row's payload, except for those in ``templateFindings``.
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
    /// Whether there may be other texts, which depend on fields.
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
            // Null is not a key. Other values that are not strings are left to the rules for types.
            if !key.node.placeholders.isEmpty || arguments?.node.placeholders.isEmpty == false { isOpen = true }
            return
        }
        fixed.append(LocalisedKeys.Entry(name: name, key: text, arguments: count))
    }
}

extension TemplateNode {
    /// The text of a string without placeholders; nil for any other value.
    fileprivate var fixedText: String? {
        guard case .string(let pieces) = value, placeholders.isEmpty else { return nil }
        return pieces.reduce(into: "") { text, piece in
            if case .text(let bytes) = piece { text += String(decoding: bytes, as: UTF8.self) }
        }
    }

    /// The number of elements that an array has in every row; 0 for null; nil if it depends on fields.
    fileprivate var fixedCount: Int? {
        switch value {
        case .array(let elements): elements.contains(where: \.isOptional) ? nil : elements.count
        case .field: nil
        default: isOptional ? nil : 0
        }
    }
}
