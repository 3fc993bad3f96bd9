/// A step of a compiled template: literal bytes, followed by an action on a field.
struct TemplateStep {
    enum Action: UInt8 {
        case none
        case text, number, bool, json
        /// Jumps to step `operand` if the field is empty.
        case skipIfEmpty
        /// Jumps to step `operand`.
        case jump
        /// Removes the last byte of the output if it is a comma that nothing follows.
        case dropComma
        case end
    }

    /// The offset of the literal in ``TemplateProgram/literals``.
    var literal: UInt32
    var literalCount: UInt32
    var column: UInt32 = 0
    /// For `skipIfEmpty` and `jump` the index of the next step, for `json` the number of levels around the value.
    var operand: UInt32 = 0
    var action: Action
}

/// A compiled template: steps, and the literal bytes they refer to, already escaped and without white space.
///
/// Commas around optional members are handled as follows. In an object (or array) with a member that always stays, the
/// optional members before it have a comma after them, which is right because that member follows, and all members after it
/// have one before them. If every member is optional, each has a comma after it, and the last one is removed before the
/// brace closes.
struct TemplateProgram {
    private(set) var steps: [TemplateStep] = []
    private(set) var literals: [UInt8] = []
    /// The start of the literal of the next step.
    private var pending = 0

    init(_ node: TemplateNode) {
        emit(node)
        flush(.end)
    }

    private mutating func flush(_ action: TemplateStep.Action, column: Int = 0, operand: Int = 0) {
        steps.append(
            TemplateStep(
                literal: UInt32(pending), literalCount: UInt32(literals.count - pending), column: UInt32(column),
                operand: UInt32(operand), action: action))
        pending = literals.count
    }

    private mutating func put(_ text: StaticString) {
        unsafe literals.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func emit(_ node: TemplateNode) {
        switch node.value {
        case .object(let members):
            put("{")
            emitMembers(members.map { ($0.key, $0.node) })
            put("}")
        case .array(let elements):
            put("[")
            emitMembers(elements.map { (nil, $0) })
            put("]")
        case .string(let pieces): emitString(pieces)
        case .field(let placeholder): emitField(placeholder, depth: node.depth)
        case .scalar(let bytes): literals += bytes
        }
    }

    private mutating func emitMembers(_ members: [(key: [UInt8]?, node: TemplateNode)]) {
        let anchor = members.firstIndex { $0.node.optionalColumns.isEmpty } ?? members.count
        for (index, member) in members.enumerated() {
            let skips = emitSkips(member.node.optionalColumns)
            if index > anchor { put(",") }
            if let key = member.key {
                put("\"")
                literals += JSONString.escaped(key)
                put("\":")
            }
            emit(member.node)
            if index < anchor { put(",") }
            land(skips)
        }
        if anchor == members.count, !members.isEmpty { flush(.dropComma) }
    }

    private mutating func emitSkips(_ columns: [Int]) -> [Int] {
        columns.map { column in
            flush(.skipIfEmpty, column: column)
            return steps.count - 1
        }
    }

    /// Sets the target of skips to the next step.
    private mutating func land(_ skips: [Int]) {
        if skips.isEmpty { return }
        if literals.count > pending { flush(.none) }
        for skip in skips { steps[skip].operand = UInt32(steps.count) }
    }

    private mutating func emitString(_ pieces: [TemplatePiece]) {
        put("\"")
        for piece in pieces {
            switch piece {
            case .text(let text): literals += JSONString.escaped(text)
            case .placeholder(let placeholder): emitFilled(.text, placeholder)
            }
        }
        put("\"")
    }

    /// Emits a field, or its default if it is empty. Without a default this is a single step.
    private mutating func emitFilled(
        _ action: TemplateStep.Action, _ placeholder: TemplatePlaceholder, depth: Int = 0
    ) {
        guard let text = placeholder.defaultText else {
            return flush(action, column: placeholder.column, operand: depth)
        }
        let skips = emitSkips([placeholder.column])
        flush(action, column: placeholder.column, operand: depth)
        flush(.jump)
        let jump = steps.count - 1
        land(skips)
        literals += action == .text ? JSONString.escaped(text) : text
        flush(.none)
        steps[jump].operand = UInt32(steps.count)
    }

    private mutating func emitField(_ placeholder: TemplatePlaceholder, depth: Int) {
        switch placeholder.type {
        case .text: emitString([.placeholder(placeholder)])
        case .number: emitFilled(.number, placeholder)
        case .bool: emitFilled(.bool, placeholder)
        case .json: emitFilled(.json, placeholder, depth: depth)
        }
    }
}
