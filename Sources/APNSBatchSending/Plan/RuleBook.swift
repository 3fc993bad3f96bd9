import APNSBatchNotification

/// The rules of a campaign's payloads, compiled: a page for each template (one for raw payloads) and each push type that
/// rows may have.
final class RuleBook: Sendable {
    /// A page as the way of a row needs it: a plain value. Used while the book is there.
    struct Page {
        fileprivate let rules: Unmanaged<PayloadRules>
        /// Whether loc-keys must be looked at.
        let needsStrings: Bool
        /// Whether every such row breaks a rule, whatever its fields say.
        let isBroken: Bool
        /// Whether rows must be looked at.
        let needsRow: Bool

        @inline(__always)
        func check(
            _ payload: UnsafeRawBufferPointer, fields: UnsafeBufferPointer<UnsafeRawBufferPointer>
        ) -> PayloadVerdict {
            rules._withUnsafeGuaranteedRef { $0.check(payload, fields: fields) }
        }
    }

    private let rules: [PayloadRules?]
    /// By template; empty when the app's strings were not given.
    private let strings: [LocalisationRules]
    private static let types = PushType.allCases.count

    /// - Parameters:
    ///   - templates: as they are sent; one nil for raw payloads.
    ///   - pushTypes: those that rows may have.
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

    /// Where the page of a template and a push type stands among the ``pages``.
    @inline(__always)
    static func place(template: Int, _ type: PushType) -> Int { template &* types &+ Int(type.rawValue) }

    /// All pages; nil for push types that no row may have.
    var pages: [Page?] {
        rules.indices.map { place in
            rules[place].map { rules in
                Page(
                    rules: .passUnretained(rules), needsStrings: localisation(at: place)?.needsRow ?? false,
                    isBroken: firstBroken(at: place) != nil, needsRow: rules.needsRow)
            }
        }
    }

    /// What the template of a place breaks in every row, if it breaks anything.
    func firstBroken(at place: Int) -> TemplateFinding? {
        let findings = (rules[place]?.templateFindings ?? []) + (localisation(at: place)?.templateFindings ?? [])
        return findings.first { $0.rule.severity == .error }
    }

    /// The rules of localised texts at a place.
    func localisation(at place: Int) -> LocalisationRules? {
        strings.isEmpty ? nil : strings[place / Self.types]
    }

    /// The rules at a place.
    func rules(at place: Int) -> PayloadRules? { rules[place] }

    /// What templates break whatever rows say, each finding once.
    var templateFindings: [TemplateFinding] {
        var found: [TemplateFinding] = []
        for rules in rules {
            for finding in rules?.templateFindings ?? [] where !found.contains(finding) { found.append(finding) }
        }
        for finding in strings.flatMap(\.templateFindings) where !found.contains(finding) { found.append(finding) }
        return found
    }
}
