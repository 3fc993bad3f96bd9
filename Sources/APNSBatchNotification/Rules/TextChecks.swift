import APNSBatchBasics

/// What a check looks at in the fields of a row for suspect texts and nulls.
struct TextChecks {
    /// A column whose fields become text.
    struct Text: Equatable {
        let column: Int
        /// Whether people read it, in one of its places at least.
        var isShown: Bool
    }

    /// A column whose fields are JSON.
    struct JSON: Equatable {
        let column: Int
        /// Whether all its places are under `aps`, where a null is the matter of other rules.
        var isUnderAps: Bool
        /// Whether people may read a text of it, because one of its places at least is under `aps`.
        var isShown: Bool
    }

    private(set) var texts: [Text] = []
    private(set) var json: [JSON] = []
    /// The columns whose fields are numbers or Booleans.
    private var checkedColumns: Set<Int> = []

    /// - Parameter root: the template; nil for raw payloads.
    init(_ root: TemplateNode?) {
        if let root { add(root, path: []) }
        // What is a number or Boolean in one place is so in all of them.
        texts.removeAll { checkedColumns.contains($0.column) }
    }

    private mutating func add(_ node: TemplateNode, path: [String]) {
        switch node.value {
        case .object(let members):
            for member in members { add(member.node, path: path + [String(decoding: member.key, as: UTF8.self)]) }
        case .array(let elements): for element in elements { add(element, path: path + [""]) }
        case .string, .field: for placeholder in node.placeholders { add(placeholder, path) }
        case .scalar: break
        }
    }

    private mutating func add(_ placeholder: TemplatePlaceholder, _ path: [String]) {
        let column = placeholder.column
        switch placeholder.type {
        case .text:
            let isShown = path.starts(with: ["aps", "alert"])
            if let place = texts.firstIndex(where: { $0.column == column }) {
                texts[place].isShown = texts[place].isShown || isShown
            } else {
                texts.append(Text(column: column, isShown: isShown))
            }
        case .json:
            let isUnderAps = path.first == "aps"
            if let place = json.firstIndex(where: { $0.column == column }) {
                json[place].isUnderAps = json[place].isUnderAps && isUnderAps
                json[place].isShown = json[place].isShown || isUnderAps
            } else {
                json.append(JSON(column: column, isUnderAps: isUnderAps, isShown: isUnderAps))
            }
        case .number, .bool: checkedColumns.insert(column)
        }
    }
}

extension TextChecks {
    /// Whether the fields of a row, from which a template was rendered, may hold a find. It allocates nothing, unless escapes in JSON
    /// hide what a text is.
    func mayFind(_ fields: UnsafeBufferPointer<UnsafeRawBufferPointer>) -> Bool {
        // By index, because an iterator would count a reference that all threads share.
        for index in texts.indices where texts[index].column < fields.count {
            let setting = SuspectText.Setting(isShown: texts[index].isShown)
            if unsafe SuspectText.isHeld(in: fields[texts[index].column], setting) { return true }
        }
        for index in json.indices where json[index].column < fields.count {
            if unsafe mayFind(json[index], fields) { return true }
        }
        return false
    }

    private func mayFind(_ json: JSON, _ fields: UnsafeBufferPointer<UnsafeRawBufferPointer>) -> Bool {
        unsafe SuspectJSON.mayHold(fields[json.column], isShown: json.isShown, nulls: !json.isUnderAps)
    }

    /// Returns the findings in the fields that become text.
    func findings(
        _ fields: UnsafeBufferPointer<UnsafeRawBufferPointer>, columns: [String]
    ) -> [PayloadFinding] {
        texts.compactMap { text in
            let setting = SuspectText.Setting(isShown: text.isShown)
            guard text.column < fields.count, let find = unsafe SuspectText.find(fields[text.column], setting) else {
                return nil
            }
            let message = unsafe "\(Printable.visible(columns[text.column])): \(find.message(in: fields[text.column]))"
            return PayloadFinding(rule: .suspectText, column: text.column, message: message)
        }
    }

    /// Returns the findings in a payload: all of them in a raw one, else those in fields that are JSON, beside nulls that
    /// ``TemplateRules`` has settled.
    func findings(
        in payload: UnsafeRawBufferPointer, _ fields: UnsafeBufferPointer<UnsafeRawBufferPointer>,
        of template: PayloadTemplate?
    ) -> [LocatedFinding] {
        guard let template else { return unsafe TextWalk.findings(payload, texts: true) }
        if json.isEmpty { return [] }
        let isSuspect = json.contains {
            unsafe $0.column < fields.count
                && SuspectJSON.mayHold(fields[$0.column], isShown: $0.isShown, nulls: false)
        }
        return unsafe TextWalk.findings(payload, texts: isSuspect).filter {
            $0.rule == .nullValue || template.root.nearest($0.path).field?.type == .json
        }
    }
}

/// Finds suspect texts and doubtful syntax in a template itself.
enum TemplateTexts {
    static func findings(_ node: TemplateNode, columns: [String], path: [JSONPathStep] = []) -> [LocatedFinding] {
        switch node.value {
        case .object(let members):
            members.flatMap {
                findings($0.node, columns: columns, path: path + [.member(String(decoding: $0.key, as: UTF8.self))])
            }
        case .array(let elements):
            elements.enumerated().flatMap { findings($1, columns: columns, path: path + [.element($0)]) }
        case .string(let pieces):
            messages(pieces, columns, isShown: path.starts(with: [.member("aps"), .member("alert")]))
                .prefix(1).map {
                    LocatedFinding(rule: .suspectText, path: path.map(\.name), message: "\(path.text): \($0)")
                }
        case .field, .scalar: []
        }
    }

    private static func messages(_ pieces: [TemplatePiece], _ columns: [String], isShown: Bool) -> [String] {
        pieces.compactMap { piece in
            switch piece {
            case .text(let text):
                let setting = SuspectText.Setting(isShown: isShown, isWhole: pieces.count == 1)
                let message = unsafe text.withUnsafeBytes { bytes in
                    unsafe SuspectText.find(bytes, setting).map {
                        unsafe isEscaped($0, text) ? nil : $0.message(in: bytes)
                    }
                }
                return doubt(text, columns, isShown) ?? (message ?? nil)
            case .placeholder(let placeholder):
                guard placeholder.type == .text, let text = placeholder.defaultText else { return nil }
                return doubt(ofDefault: text, columns[placeholder.column], isShown) ?? doubt(text, columns, isShown)
            }
        }
    }

    /// Whether it is two braces, which are in the text of a template only if they were doubled on purpose.
    private static func isEscaped(_ find: SuspectText.Find, _ text: [UInt8]) -> Bool {
        find.kind == .placeholder && text[find.range].starts(with: "{{".utf8)
    }

    /// Returns the message about syntax that may be of another language.
    private static func doubt(_ text: [UInt8], _ columns: [String], _ isShown: Bool) -> String? {
        ForeignScan(bytes: text, columns: columns, isShown: isShown).first(certain: false)?.syntax.doubt
    }

    private static func doubt(ofDefault text: [UInt8], _ column: String, _ isShown: Bool) -> String? {
        let text = String(decoding: text, as: UTF8.self)
        if let found = ForeignFilters.find(name: column, default: text, isShown: isShown) { return found.syntax.doubt }
        guard let first = text.first, first == "'" || first == "\"", text.count > 1, text.last == first else {
            return nil
        }
        return "the default \(text.quoted) is sent with its quotes; write {{\(column)|\(text.dropFirst().dropLast())}}"
    }
}
