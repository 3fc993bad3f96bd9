/// A step of a compiled template: literal bytes first, then what is done with a field.
struct TemplateStep {
    enum Action: UInt8 {
        case none
        case text, number, bool, json
        /// Goes on at step `operand` when the field is empty.
        case skipIfEmpty
        /// Goes on at step `operand`.
        case jump
        /// Takes back a comma that nothing followed.
        case dropComma
        case end
    }

    /// Where the literal begins in ``TemplateProgram/literals``.
    var literal: UInt32
    var literalCount: UInt32
    var column: UInt32 = 0
    /// For `skipIfEmpty` and `jump` the step to go on with, for `json` the levels around the value.
    var operand: UInt32 = 0
    var action: Action
}

/// A compiled template: steps over one run of literal bytes, already escaped and without white space.
///
/// How commas come out right when keys may go: in an object (or array) with a member that always stays, the optional
/// ones before it carry a comma after them, since it always follows, and all later members carry one before them. Where
/// every member may go, each carries a comma after it, and the last one's is taken back before the brace closes.
struct TemplateProgram {
    private(set) var steps: [TemplateStep] = []
    private(set) var literals: [UInt8] = []
    /// Start of the literal that the next step will carry.
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

    /// Makes the skips lead to here.
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

    /// A field, or its default where it is empty. Without a default it is one step.
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
