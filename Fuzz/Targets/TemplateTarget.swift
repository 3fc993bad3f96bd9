import APNSBatchNotification

/// A template and, each behind a byte 0xFF, the fields of a row. What is rendered is JSON that cannot be made shorter;
/// its size is told in advance; verdict and words of the rules agree.
@Sendable func fuzzTemplate(_ bytes: UnsafeRawBufferPointer) {
    let columns = ["name", "badge", "vip", "extras"]
    var given = parts(bytes)
    let json = given.removeFirst()
    guard let template = try? PayloadTemplate(json: json, columns: columns, file: "t.json") else { return }
    let fields = columns.indices.map { $0 < given.count ? given[$0] : [] }
    // Fields are UTF-8: the reader of the input has seen to it.
    guard fields.allSatisfy({ String(validating: $0, as: UTF8.self) != nil }) else { return }
    withViews(fields) { render(template, $0) }
}

private func render(_ template: PayloadTemplate, _ fields: UnsafeBufferPointer<UnsafeRawBufferPointer>) {
    let none = template.render(fields: fields, into: UnsafeMutableRawBufferPointer(start: nil, count: 0))
    switch none {
    case .written: fatalError("a payload of no bytes")
    case .invalid(let failure): precondition(!template.describe(failure, fields: fields).isEmpty)
    case .tooLarge(let size):
        let output = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 1)
        defer { output.deallocate() }
        precondition(template.render(fields: fields, into: output) == .written(size))
        let payload = UnsafeRawBufferPointer(output)
        precondition(compacted(payload) == Array(payload), "a rendered payload is no compact JSON")
        for type in [PushType.alert, .background, .liveactivity] {
            judge(payload, fields, PayloadRules(template: template, pushType: type))
        }
    }
    // With room to spare it is written in one pass.
    let wide = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 1)
    defer { wide.deallocate() }
    let direct = template.render(fields: fields, into: wide)
    if case .tooLarge(let size) = none {
        precondition(direct == (size <= wide.count ? .written(size) : none))
    } else {
        precondition(direct == none)
    }
}

/// Verdict and words must agree.
func judge(
    _ payload: UnsafeRawBufferPointer, _ fields: UnsafeBufferPointer<UnsafeRawBufferPointer>, _ rules: PayloadRules
) {
    let verdict = rules.check(payload, fields: fields)
    let findings = rules.describe(payload, fields: fields, texts: false)
    precondition(verdict.hasError == findings.contains { $0.rule.severity == .error }, "\(findings)")
    precondition(verdict.hasWarning == findings.contains { $0.rule.severity == .warning }, "\(findings)")
    let all = rules.describe(payload, fields: fields, texts: false, cardNumbers: true)
    if rules.template == nil { precondition((all.count > findings.count) == rules.holdsCardNumber(payload)) }
    // With texts, a verdict may have a warning for which there are no words, but no words are without it.
    let checked = rules.check(payload, fields: fields, texts: true)
    let words = rules.describe(payload, fields: fields)
    precondition(checked.hasError == verdict.hasError)
    precondition(checked.hasWarning || !words.contains { $0.rule.severity == .warning }, "\(words)")
}

func compacted(_ json: UnsafeRawBufferPointer) -> [UInt8]? {
    let output = UnsafeMutableRawBufferPointer.allocate(byteCount: json.count, alignment: 1)
    defer { output.deallocate() }
    guard case .written(let count) = PayloadCompactor.compact(json: json, into: output) else { return nil }
    return Array(output[..<count])
}
