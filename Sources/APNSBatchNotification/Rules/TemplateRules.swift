/// Checks a template against the rules once, and determines which findings hold for every row and what rows must be checked
/// for.
struct TemplateRules {
    private let root: TemplateNode
    private let columns: [String]
    private let setting: ScanSetting
    private let payloadLimit: Int
    /// The findings that hold for every row.
    private(set) var settled: [LocatedFinding] = []
    private(set) var rows: RowChecks

    init(_ template: PayloadTemplate, _ setting: ScanSetting, payloadLimit: Int) {
        root = template.root
        columns = template.columns
        self.setting = setting
        self.payloadLimit = payloadLimit
        rows = RowChecks(root, isLiveActivity: setting.isLiveActivity)
        settleSize()
        settleKeys()
        settleDefaults()
        settleContent()
        settleTexts()
        unsafe settled += sample().withUnsafeBytes { unsafe CardNumberWalk.findings($0) }
    }

    private func sample(keepsOptional: Bool = true, _ fields: TemplateSample.Fields = .filled) -> [UInt8] {
        TemplateSample(root, columns: columns, keepsOptional: keepsOptional, fields: fields).bytes
    }

    private func scan(_ sample: [UInt8]) -> [LocatedFinding] {
        unsafe sample.withUnsafeBytes { unsafe LocatedFinding.scan($0, setting) }
    }

    /// Checks whether the template is too large even if every field is empty.
    private mutating func settleSize() {
        let least = sample(keepsOptional: false, .least).count
        if least <= payloadLimit { return }
        settled.append(.size(payloadLimit, found: root.placeholders.isEmpty ? "\(least)" : "\(least) or more"))
    }

    /// Checks the rules of single keys. Findings about stand-ins for fields are left to the rows.
    private mutating func settleKeys() {
        for finding in scan(sample()) where !finding.rule.isOfContent {
            let node = root.nearest(finding.path)
            let isOpen =
                switch finding.rule {
                case .keyRange, .mutableContentTrue: !node.placeholders.isEmpty
                case .keyType, .apsType: node.isOpenInType(of: finding.path)
                default: false
                }
            if !isOpen { settled.append(finding.hinting(at: node)) }
        }
    }

    /// Checks defaults. A default that its key does not allow is a fault of the template, although only rows with an empty
    /// field get it.
    private mutating func settleDefaults() {
        for finding in scan(sample(.empty)) where !finding.rule.isOfContent && !settled.contains(finding) {
            let placeholders = root.nearest(finding.path).placeholders
            guard !placeholders.isEmpty, placeholders.allSatisfy({ $0.defaultText != nil }) else { continue }
            settled.append(finding)
        }
    }

    /// Checks the texts of the template itself, and looks for nulls.
    private mutating func settleTexts() {
        settled += TemplateTexts.findings(root, columns: columns)
        for finding in unsafe sample().withUnsafeBytes({ unsafe TextWalk.findings($0, texts: false) }) {
            settled.append(finding)
        }
        for finding in unsafe sample(.empty).withUnsafeBytes({ unsafe TextWalk.findings($0, texts: false) })
        where !settled.contains(finding) { settled.append(finding) }
    }

    /// Checks the rules of the push type, which are settled if no field can make a difference.
    private mutating func settleContent() {
        let most = content(sample())
        if hasOpenKeys {
            rows.needsScan = true
            return
        }
        if most == content(sample(keepsOptional: false, .empty)) {
            settled += most
        } else if most.isEmpty, content(sample(keepsOptional: false)).isEmpty, let texts = shownTexts {
            rows.shownTexts = texts
        } else {
            rows.needsScan = true
        }
    }

    private func content(_ sample: [UInt8]) -> [LocatedFinding] { scan(sample).filter(\.rule.isOfContent) }
}

extension TemplateRules {
    /// Whether fields decide which keys exist, in ways that the samples with all and with no optional values do not show.
    private var hasOpenKeys: Bool {
        guard let aps = root.member("aps")?.node, case .object(let members) = aps.value else {
            return root.member("aps")?.node.field != nil
        }
        func isFilled(_ name: String) -> Bool { aps.member(name)?.node.placeholders.isEmpty == false }
        // The values of these keys matter, not only their presence.
        let isOpenInValue =
            setting.isLiveActivity && isFilled("event") || setting.content == .silent && isFilled("content-available")
        return isOpenInValue || members.contains { $0.isOpen }
    }

    /// The columns that must not all be empty, if all texts of the push consist of fields; nil if the
    /// condition is not that simple.
    private var shownTexts: [Int]? {
        guard let aps = root.member("aps")?.node else { return nil }
        let alert = aps.member("alert")?.node
        let texts = ["title", "subtitle", "body", "title-loc-key", "subtitle-loc-key", "loc-key"]
        let shown = ["badge", "sound"].map { aps.member($0)?.node } + texts.map { alert?.member($0)?.node } + [alert]
        var columns: [Int] = []
        for node in shown.compactMap({ $0 }) {
            if case .object = node.value, node.offset == alert?.offset { continue }
            guard case .string(let pieces) = node.value else { return nil }
            if node.isOptional, pieces.count > 1 { return nil }
            columns += node.placeholders.map(\.column)
        }
        return columns
    }
}

extension TemplateMember {
    /// Whether a field sets a key of aps that Apple defines to any kind of value.
    fileprivate var isOpen: Bool {
        node.field?.type == .json && PayloadKey.all(in: .aps).contains { key.elementsEqual($0.name.utf8) }
    }
}

extension TemplateNode {
    /// Whether a field decides the type of the value.
    fileprivate func isOpenInType(of path: [String]) -> Bool {
        switch value {
        case .field(let placeholder): return placeholder.type == .json
        case .array(let elements):
            let key = PayloadKey.all.first { $0.parent.path + "." + $0.name == path.joined(separator: ".") }
            guard key?.form == .texts || key?.form == .textsOrNull else { return false }
            return elements.contains { $0.field?.type == .json }
        default: return false
        }
    }
}

extension Rule {
    /// Whether the rule is about what `aps` contains, and not about the form of single values.
    var isOfContent: Bool {
        switch self {
        case .apsMissing, .alertNothingToShow, .backgroundShows, .backgroundContentAvailable, .contentChangedMissing,
            .timestampMissing, .eventMissing, .contentStateMissing, .startAttributes, .startAlert, .broadcastStart:
            true
        default: false
        }
    }
}

extension LocatedFinding {
    /// Returns all findings of a scan of the payload.
    static func scan(_ payload: UnsafeRawBufferPointer, _ setting: ScanSetting) -> [LocatedFinding] {
        var scan = unsafe PayloadScan(payload, setting, sink: FindingCollector(setting))
        scan.run()
        return scan.sink.findings
    }

    static func size(_ limit: Int, found: String) -> LocatedFinding {
        LocatedFinding(
            rule: .payloadSize, path: [], message: "payload: expected at most \(limit) bytes, found \(found)")
    }
}

extension LocatedFinding {
    /// Adds a hint how to write the placeholder, if a text placeholder is where a number belongs.
    fileprivate func hinting(at node: TemplateNode) -> LocatedFinding {
        guard rule == .keyType, case .string(let pieces) = node.value, pieces.count == 1,
            pieces[0].placeholder?.type == .text
        else { return self }
        let hint = "; a placeholder produces text unless it has a type, as in {{name:number}}"
        return LocatedFinding(rule: rule, path: path, message: message + hint)
    }
}

/// A check that a field is within the range of the key that it sets.
struct FieldCheck: Equatable {
    let column: Int
    let form: PayloadKeyForm
    /// Whether an empty field removes the key, or is replaced by a default.
    let mayBeEmpty: Bool

    /// - Parameter field: a field of the placeholder's type, as the payload was rendered.
    @inline(__always)
    func isRight(_ field: UnsafeRawBufferPointer, isLiveActivity: Bool) -> Bool {
        if unsafe field.isEmpty { return mayBeEmpty }
        if case .interruptionLevel = form { return unsafe KeyJudge.isChoice(field, form) }
        return unsafe KeyJudge.number(field, form, isLiveActivity) == nil
    }
}

/// The checks of a template that depend on the fields of each row.
struct RowChecks: Equatable {
    /// Whether the payload must be scanned. The other checks are not used then.
    var needsScan = false
    var fields: [FieldCheck] = []
    /// Columns that must not all be empty, or nothing would be shown.
    var shownTexts: [Int] = []

    var isEmpty: Bool { !needsScan && fields.isEmpty && shownTexts.isEmpty }
}

extension RowChecks {
    /// Adds the checks for values of single keys. ``TemplateRules`` adds those for what the push type requires.
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
