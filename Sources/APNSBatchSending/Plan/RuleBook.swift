import APNSBatchNotification

/// The rules for a campaign's payloads, compiled: a page for each combination of template (one for raw payloads) and push
/// type that rows can have.
final class RuleBook: Sendable {
    /// The part of the rules that is needed for each row, as a plain value. Valid as long as the rule book exists.
    @safe struct Page {
        fileprivate let rules: Unmanaged<PayloadRules>
        /// Whether loc-keys must be checked.
        let needsStrings: Bool
        /// Whether every row with this page violates a rule, whatever its fields are.
        let isBroken: Bool
        /// Whether payloads must be checked row by row.
        let needsRow: Bool

        @inline(__always)
        func check(
            _ payload: UnsafeRawBufferPointer, fields: UnsafeBufferPointer<UnsafeRawBufferPointer>, texts: Bool
        ) -> PayloadVerdict {
            unsafe rules._withUnsafeGuaranteedRef { unsafe $0.check(payload, fields: fields, texts: texts) }
        }

        @inline(__always)
        func holdsCardNumber(_ payload: UnsafeRawBufferPointer) -> Bool {
            unsafe rules._withUnsafeGuaranteedRef { unsafe $0.holdsCardNumber(payload) }
        }
    }

    private let rules: [PayloadRules?]
    /// The rules by template; empty if no strings of the app are given.
    private let strings: [LocalisationRules]
    private static let types = PushType.allCases.count

    /// - Parameters:
    ///   - templates: The templates as they are sent; a single nil for raw payloads.
    ///   - pushTypes: The push types that rows can have.
    init(
        _ templates: [PayloadTemplate?], pushTypes: [PushType], strings: LocalisedStrings?, isBroadcast: Bool = false
    ) {
        self.strings = strings.map { strings in templates.map { LocalisationRules(strings, template: $0) } } ?? []
        rules = templates.flatMap { template in
            PushType.allCases.map { type in
                guard pushTypes.contains(type) else { return nil }
                return PayloadRules(template: template, pushType: type, isBroadcast: isBroadcast)
            }
        }
    }

    /// Returns the index of the page of a template and a push type in ``pages``.
    @inline(__always)
    static func page(template: Int, _ type: PushType) -> Int { template &* types &+ Int(type.rawValue) }

    /// All pages; nil for push types that no row can have.
    var pages: [Page?] {
        rules.indices.map { page in
            rules[page].map { rules in
                unsafe Page(
                    rules: .passUnretained(rules), needsStrings: localisation(at: page)?.needsRow ?? false,
                    isBroken: firstBroken(at: page) != nil, needsRow: rules.needsRow)
            }
        }
    }

    /// Returns the first error that the template of a page causes in every row; nil if there is none.
    func firstBroken(at page: Int) -> TemplateFinding? {
        let findings = (rules[page]?.templateFindings ?? []) + (localisation(at: page)?.templateFindings ?? [])
        return findings.first { $0.rule.severity == .error }
    }

    /// The rules for localised texts of a page.
    func localisation(at page: Int) -> LocalisationRules? {
        strings.isEmpty ? nil : strings[page / Self.types]
    }

    /// The rules of a page.
    func rules(at page: Int) -> PayloadRules? { rules[page] }

    /// All findings about templates that do not depend on rows, each once, if the push type of a row is one of these.
    func templateFindings(of types: [PushType]) -> [TemplateFinding] {
        var found: [TemplateFinding] = []
        let numbers = types.map { Int($0.rawValue) }
        for (page, rules) in rules.enumerated() where numbers.contains(page % Self.types) {
            for finding in rules?.templateFindings ?? [] where !found.contains(finding) { found.append(finding) }
        }
        for finding in strings.flatMap(\.templateFindings) where !found.contains(finding) { found.append(finding) }
        return found
    }
}
