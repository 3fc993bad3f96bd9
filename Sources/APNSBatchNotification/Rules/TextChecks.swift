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
    }

    private(set) var texts: [Text] = []
    private(set) var json: [JSON] = []

    /// - Parameter root: the template; nil for raw payloads.
    init(_ root: TemplateNode?) {
        if let root { add(root, path: []) }
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
            } else {
                json.append(JSON(column: column, isUnderAps: isUnderAps))
            }
        case .number, .bool: break
        }
    }
}

extension TextChecks {
    /// Whether the fields of a row, from which a template was rendered, may hold a find. It allocates nothing.
    func mayFind(_ fields: UnsafeBufferPointer<UnsafeRawBufferPointer>) -> Bool {
        for index in texts.indices where texts[index].column < fields.count {
            if unsafe find(texts[index], fields) != nil { return true }
        }
        for index in json.indices where json[index].column < fields.count {
            if unsafe mayFind(in: fields[json[index].column], isUnderAps: json[index].isUnderAps) { return true }
        }
        return false
    }

    /// Whether a field that is JSON may hold a find.
    private func mayFind(in field: UnsafeRawBufferPointer, isUnderAps: Bool) -> Bool {
        let quoted = unsafe Self.has(UInt8(ascii: "\""), field)
        // Without a string, there may be a null only.
        if unsafe !quoted && (isUnderAps || !Self.has(UInt8(ascii: "n"), field)) { return false }
        if unsafe quoted && Self.has(UInt8(ascii: "\\"), field) && Self.hasTellingEscape(field) {
            return unsafe mayFind(inEscaped: field, isUnderAps: isUnderAps)
        }
        var cursor = unsafe CompactCursor<LookingAtTexts>(field)
        // The cursor reads JSON without blanks; those within an object or array make no difference to what it looks for.
        while cursor.byte.isBlankOfJSON { cursor.open() }
        _ = cursor.value()
        return cursor.hasSuspectText || cursor.hasNull && !isUnderAps
    }

    @inline(__always)
    private static func has(_ byte: UInt8, _ field: UnsafeRawBufferPointer) -> Bool {
        let wanted = Bytes16(repeating: byte)
        let (start, count) = unsafe (field.start, field.count)
        if count < 16 { return unsafe field.contains(byte) }
        var offset = 0
        while offset &+ 16 <= count {
            if unsafe !((start + offset).block() .== wanted).isEmpty { return true }
            offset &+= 16
        }
        return unsafe !((start + (count &- 16)).block() .== wanted).isEmpty
    }

    /// Whether a UTF-16 unit is a character by which a find is recognised.
    private static func isTelling(_ unit: UInt16) -> Bool {
        switch unit {
        // Mojibake, and U+FFFD.
        case 0xC2, 0xC3, 0xD0, 0xD1, 0xE2, 0xEF, 0xF0, 0xFFFD: true
        // The marks < & % { | and the backslash.
        case 0x3C, 0x26, 0x25, 0x7B, 0x7C, 0x5C: true
        default: false
        }
    }

    /// Whether such a character is written as an escape. Words for no value are looked for as programs write them.
    private static func hasTellingEscape(_ field: UnsafeRawBufferPointer) -> Bool {
        var rest = unsafe field[...]
        while let backslash = unsafe rest.firstIndex(of: UInt8(ascii: "\\")), backslash + 6 <= field.count {
            if unsafe field[backslash + 1] == UInt8(ascii: "u") {
                var unit: UInt16 = 0
                // A letter has the bit 0x40, and its value is nine more than its last four bits.
                for index in (backslash + 2)..<(backslash + 6) {
                    let digit = unsafe field[index]
                    unit = unit << 4 | UInt16(digit & 0x0F) &+ (digit & 0x40 == 0 ? 0 : 9)
                }
                if isTelling(unit) { return true }
            }
            unsafe rest = unsafe field[(backslash + 2)...]
        }
        return false
    }

    private func mayFind(inEscaped field: UnsafeRawBufferPointer, isUnderAps: Bool) -> Bool {
        var scanner = unsafe JSONScanner(field, top: .anyValue)
        while true {
            switch scanner.next() {
            case .end, .fault: return false
            case .literal where !isUnderAps: if unsafe scanner.token.first == UInt8(ascii: "n") { return true }
            case .string where scanner.tokenIsShortest:
                if unsafe SuspectText.find(scanner.token, SuspectText.Setting(isShown: true, isJSON: true)) != nil {
                    return true
                }
            case .string:
                let setting = SuspectText.Setting(isShown: true)
                if unsafe Array(scanner.text.utf8).withUnsafeBytes({ unsafe SuspectText.find($0, setting) }) != nil {
                    return true
                }
            default: break
            }
        }
    }

    @inline(__always)
    private func find(
        _ text: Text, _ fields: UnsafeBufferPointer<UnsafeRawBufferPointer>
    ) -> SuspectText.Find? {
        unsafe SuspectText.find(fields[text.column], SuspectText.Setting(isShown: text.isShown))
    }

    /// Returns the findings in the fields that become text.
    func findings(
        _ fields: UnsafeBufferPointer<UnsafeRawBufferPointer>, columns: [String]
    ) -> [PayloadFinding] {
        texts.compactMap { text in
            guard text.column < fields.count, let find = unsafe find(text, fields) else { return nil }
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
            unsafe $0.column < fields.count && mayFind(in: fields[$0.column], isUnderAps: true)
        }
        return unsafe TextWalk.findings(payload, texts: isSuspect).filter {
            $0.rule == .nullValue || template.root.nearest($0.path).field?.type == .json
        }
    }
}

extension UInt8 {
    fileprivate var isBlankOfJSON: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }
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

    /// Whether it is two braces, which are in the text of a template only if somebody has doubled them.
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
