import APNSBatchNotification
import Testing

/// Returns findings in the form that tests compare, which is `rule: message`.
extension PayloadRules {
    /// Returns the findings for a raw payload, which is compacted first, as it is in a lane.
    static func ofRaw(
        _ json: String, _ type: PushType = .alert, isBroadcast: Bool = false, cardNumbers: Bool = false
    ) throws -> [String] {
        guard case .payload(let payload) = compacted(json) else { throw NotJSON() }
        let rules = PayloadRules(template: nil, pushType: type, isBroadcast: isBroadcast)
        return rules.findings(payload, cardNumbers: cardNumbers)
    }

    /// Returns the findings for a template.
    static func ofTemplate(
        _ json: String, _ columns: [String] = [], _ type: PushType = .alert, isBroadcast: Bool = false
    ) throws -> [String] {
        let template = try PayloadTemplate(json, columns)
        let rules = PayloadRules(template: template, pushType: type, isBroadcast: isBroadcast)
        return rules.templateFindings.map { "\($0.rule.rawValue): \($0.message)" }
    }

    /// Renders a row and returns its findings, after checking that the verdict and the messages agree.
    func row(_ fields: [String], cardNumbers: Bool = false) throws -> [String] {
        let bytes = fields.map { Array($0.utf8) }
        guard case .payload(let payload)? = template?.rendered(bytes, capacity: 1 << 16) else { throw NotJSON() }
        return findings(payload, fields: bytes, cardNumbers: cardNumbers)
    }

    func findings(_ payload: [UInt8], fields: [[UInt8]] = [], cardNumbers: Bool = false) -> [String] {
        let memory = GuardedMemory(payload)
        let fieldMemory = fields.map { GuardedMemory($0) }
        let views = fieldMemory.map { UnsafeRawBufferPointer($0.bytes) }
        defer { withExtendedLifetime((memory, fieldMemory)) {} }
        return views.withUnsafeBufferPointer { fields in
            let payload = UnsafeRawBufferPointer(memory.bytes)
            let verdict = check(payload, fields: fields)
            let found = describe(payload, fields: fields)
            let isOfTexts = { (finding: PayloadFinding) in finding.rule == .suspectText || finding.rule == .nullValue }
            let sent = found.filter { !isOfTexts($0) }
            #expect(verdict.hasError == sent.contains { $0.rule.severity == .error }, "\(found) \(verdict)")
            #expect(verdict.hasWarning == sent.contains { $0.rule.severity == .warning }, "\(found) \(verdict)")
            #expect(needsRow || verdict.isClean)
            // With texts, a warning may turn out to be none, but not the other way round.
            let checked = check(payload, fields: fields, texts: true)
            #expect(checked.hasError == verdict.hasError)
            #expect(checked.hasWarning || !found.contains { $0.rule.severity == .warning }, "\(found) \(checked)")
            let all = cardNumbers ? describe(payload, fields: fields, cardNumbers: true) : found
            if template == nil {
                #expect((all.count > found.count) == (cardNumbers && holdsCardNumber(payload)))
            }
            return all.map { finding in
                let column = finding.column.map { "[\(template?.columns[$0] ?? "?")] " } ?? ""
                return "\(finding.rule.rawValue): \(column)\(finding.message)"
            }
        }
    }
}

struct NotJSON: Error {}
