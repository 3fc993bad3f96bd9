import APNSProtocol
import PayloadTemplate

/// The rules of a campaign's payloads, compiled: a page for each template (one for raw payloads) and each push type that
/// rows may have.
final class RuleBook: Sendable {
    /// A page as the way of a row needs it: a plain value. Used while the book is there.
    struct Page {
        fileprivate let rules: Unmanaged<PayloadRules>
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
    private static let types = PushType.allCases.count

    /// - Parameter pushTypes: those that rows may have.
    init(_ choice: TemplateChoice, pushTypes: [PushType]) {
        let templates: [PayloadTemplate?] = choice.templates.isEmpty ? [nil] : choice.templates
        rules = templates.flatMap { template in
            PushType.allCases.map { type in
                pushTypes.contains(type) ? PayloadRules(template: template, pushType: type) : nil
            }
        }
    }

    /// Where the page of a template and a push type stands among the ``pages``.
    @inline(__always)
    static func place(template: Int, _ type: PushType) -> Int { template &* types &+ Int(type.rawValue) }

    /// All pages; nil for push types that no row may have.
    var pages: [Page?] {
        rules.map { rules in
            rules.map {
                Page(
                    rules: .passUnretained($0), isBroken: $0.templateFindings.contains { $0.rule.severity == .error },
                    needsRow: $0.needsRow)
            }
        }
    }

    /// The rules at a place.
    func rules(at place: Int) -> PayloadRules? { rules[place] }

    /// What templates break whatever rows say, each finding once.
    var templateFindings: [TemplateFinding] {
        var found: [TemplateFinding] = []
        for rules in rules {
            for finding in rules?.templateFindings ?? [] where !found.contains(finding) { found.append(finding) }
        }
        return found
    }
}
