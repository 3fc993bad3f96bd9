/// The rules for payloads, compiled for a push type and a template, or for raw payloads.
///
/// It is immutable, so that any number of threads may use it.
package final class PayloadRules: Sendable {
    package let template: PayloadTemplate?
    package let pushType: PushType
    package let isBroadcast: Bool
    /// The maximum length of a payload in bytes.
    package let payloadLimit: Int
    /// The findings that hold for every row, whatever its fields contain.
    package let templateFindings: [TemplateFinding]
    /// Whether rows must be checked. False if no row can break a rule that the template does not break already; card
    /// numbers are not considered.
    package let needsRow: Bool

    private let setting: ScanSetting
    private let settled: [LocatedFinding]
    private let rows: RowChecks
    /// What is looked at for ``Rule/suspectText`` and ``Rule/nullValue``.
    private let texts: TextChecks

    /// - Parameter template: nil for raw payloads.
    package init(template: PayloadTemplate?, pushType: PushType, isBroadcast: Bool = false) {
        self.template = template
        self.pushType = pushType
        self.isBroadcast = isBroadcast
        payloadLimit = isBroadcast ? PushTypeRule.broadcastPayloadLimit : pushType.payloadLimit
        setting = ScanSetting(pushType: pushType, content: pushType.rule.content, isBroadcast: isBroadcast)
        var rules: TemplateRules?
        if let template { rules = TemplateRules(template, setting, payloadLimit: payloadLimit) }
        let settled = rules?.settled ?? []
        self.settled = settled
        rows = rules?.rows ?? RowChecks(needsScan: true)
        needsRow = !rows.isEmpty
        texts = TextChecks(template?.root)
        templateFindings = template.map { settled.map($0.finding) } ?? []
    }

    /// Checks a payload against the rules, except for those in ``templateFindings`` and for card numbers.
    ///
    /// It takes one pass over the fields that matter, or over the payload, and does not allocate if there is no finding.
    ///
    /// - Parameters:
    ///   - payload: the rendered or compacted payload, borrowed until return.
    ///   - fields: the fields from which it was rendered, borrowed until return; not used for raw payloads.
    ///   - texts: whether to look at texts and for nulls, too, which sending has no time for. There may be a warning then for which
    ///     ``describe(_:fields:texts:cardNumbers:)`` has no words.
    package func check(
        _ payload: UnsafeRawBufferPointer, fields: UnsafeBufferPointer<UnsafeRawBufferPointer>, texts: Bool = false
    ) -> PayloadVerdict {
        if texts, template == nil { return unsafe scanWithTexts(payload) }
        var verdict = PayloadVerdict()
        if needsRow { verdict = unsafe check(payload, fields) }
        if texts, unsafe self.texts.mayFind(fields) { verdict.hasWarning = true }
        return verdict
    }

    @inline(__always)
    private func check(
        _ payload: UnsafeRawBufferPointer, _ fields: UnsafeBufferPointer<UnsafeRawBufferPointer>
    ) -> PayloadVerdict {
        if rows.needsScan || payload.count > payloadLimit { return unsafe scan(payload, fields) }
        var verdict = PayloadVerdict()
        // By index, because an iterator would count a reference that all lanes share.
        for index in rows.fields.indices {
            let field = unsafe fields[rows.fields[index].column]
            if unsafe !rows.fields[index].isRight(field, isLiveActivity: setting.isLiveActivity) {
                verdict.hasError = true
            }
        }
        let texts = rows.shownTexts.indices
        if !texts.isEmpty, texts.allSatisfy({ unsafe fields[rows.shownTexts[$0]].isEmpty }) { verdict.hasError = true }
        return verdict
    }

    private func scan(
        _ payload: UnsafeRawBufferPointer, _ fields: UnsafeBufferPointer<UnsafeRawBufferPointer>
    ) -> PayloadVerdict {
        var scan = unsafe PayloadScan(payload, setting, sink: VerdictSink<PassingTexts>())
        scan.run()
        if payload.count > payloadLimit { scan.sink.verdict.hasError = true }
        if scan.sink.verdict.isClean || settled.isEmpty { return scan.sink.verdict }
        // Some findings may be those of the template. This is rare, so the cost of making messages does not matter.
        var verdict = PayloadVerdict()
        for finding in unsafe describe(payload, fields: fields, texts: false) {
            if finding.rule.severity == .error { verdict.hasError = true } else { verdict.hasWarning = true }
        }
        return verdict
    }

    /// Checks a payload of the row's own with its texts.
    private func scanWithTexts(_ payload: UnsafeRawBufferPointer) -> PayloadVerdict {
        var scan = unsafe PayloadScan(payload, setting, sink: VerdictSink<LookingAtTexts>())
        scan.run()
        if payload.count > payloadLimit { scan.sink.verdict.hasError = true }
        // Not all that is under aps is for people, so the finds are looked at again.
        if scan.hasNull || scan.hasSuspectText, unsafe !TextWalk.findings(payload, texts: true).isEmpty {
            scan.sink.verdict.hasWarning = true
        }
        return scan.sink.verdict
    }

    /// Whether the payload contains a number that looks like a card number. It takes one pass, separate from
    /// ``check(_:fields:)``.
    package func holdsCardNumber(_ payload: UnsafeRawBufferPointer) -> Bool { unsafe CardNumber.isHeld(in: payload) }

    /// Returns all findings with messages, except for those in ``templateFindings``. It is slow, and meant for payloads
    /// whose verdict is not clean or that contain a card number.
    package func describe(
        _ payload: UnsafeRawBufferPointer, fields: UnsafeBufferPointer<UnsafeRawBufferPointer>,
        texts: Bool = true, cardNumbers: Bool = false
    ) -> [PayloadFinding] {
        var findings = unsafe LocatedFinding.scan(payload, setting)
        if payload.count > payloadLimit { findings.insert(.size(payloadLimit, found: "\(payload.count)"), at: 0) }
        if texts { unsafe findings += self.texts.findings(in: payload, fields, of: template) }
        if cardNumbers { unsafe findings += CardNumberWalk.findings(payload) }
        let located = findings.filter { !isSettled($0) }.map {
            unsafe PayloadFinding(rule: $0.rule, column: template?.column(of: $0, fields), message: $0.message)
        }
        return texts ? unsafe located + self.texts.findings(fields, columns: template?.columns ?? []) : located
    }

    private func isSettled(_ finding: LocatedFinding) -> Bool {
        settled.contains { $0.rule == finding.rule && $0.path == finding.path }
    }
}

/// Finds all strings, numbers and keys of a payload that contain a possible card number, with their paths. It is slow.
enum CardNumberWalk {
    static func findings(_ payload: UnsafeRawBufferPointer) -> [LocatedFinding] {
        var scanner = unsafe JSONScanner(payload, top: .object)
        var findings: [LocatedFinding] = []
        var path: [JSONPathStep] = []
        while true {
            let token = scanner.next()
            if token == .end || token == .fault { return findings }
            path.follow(token, scanner)
            guard token == .key || token == .string || token == .number, unsafe CardNumber.isHeld(in: scanner.token)
            else {
                continue
            }
            findings.append(finding(token == .key ? path.dropLast() : path))
        }
    }

    private static func finding(_ path: [JSONPathStep]) -> LocatedFinding {
        let message = "\(path.text): what looks like a card number, in clear text"
        return LocatedFinding(rule: .cardNumber, path: path.map(\.name), message: message)
    }
}
