/// A sample payload of a template, with stand-ins for the fields, so that the scan of payloads can check templates as well.
/// The stand-in for a text is the placeholder itself, for a number 1, for a Boolean true.
struct TemplateSample {
    enum Fields {
        /// No field is empty.
        case filled
        /// All fields are empty, and replaced by their defaults. Those that must not be empty are filled.
        case empty
        /// Fields are as short as possible: texts are empty, whatever their default.
        case least
    }

    /// Whether values are kept that would be removed by an empty field.
    let keepsOptional: Bool
    let fields: Fields
    let columns: [String]
    private(set) var bytes: [UInt8] = []

    init(_ root: TemplateNode, columns: [String], keepsOptional: Bool = true, fields: Fields = .filled) {
        self.columns = columns
        self.keepsOptional = keepsOptional
        self.fields = fields
        write(root)
    }

    private mutating func write(_ node: TemplateNode) {
        switch node.value {
        case .object(let members): write(members.map { ($0.key, $0.node) }, "{", "}")
        case .array(let elements): write(elements.map { (nil, $0) }, "[", "]")
        case .string(let pieces): writeString(pieces)
        case .field(let placeholder):
            if fields == .empty, let text = placeholder.defaultText {
                bytes += text
                return
            }
            switch placeholder.type {
            case .bool: bytes += "true".utf8
            case .number, .text: bytes += "1".utf8
            case .json: bytes += "0".utf8
            }
        case .scalar(let scalar): bytes += scalar
        }
    }

    private mutating func write(_ members: [(key: [UInt8]?, node: TemplateNode)], _ open: String, _ close: String) {
        bytes += open.utf8
        var isFirst = true
        for member in members where keepsOptional || !member.node.isOptional {
            if !isFirst { bytes += ",".utf8 }
            isFirst = false
            if let key = member.key {
                writeString([.text(key)])
                bytes += ":".utf8
            }
            write(member.node)
        }
        bytes += close.utf8
    }

    private mutating func writeString(_ pieces: [TemplatePiece]) {
        bytes += "\"".utf8
        for piece in pieces {
            switch piece {
            case .text(let text): bytes += JSONString.escaped(text)
            case .placeholder(let placeholder):
                switch fields {
                case .filled: bytes += JSONString.escaped(Array("{{\(columns[placeholder.column])}}".utf8))
                case .empty: bytes += JSONString.escaped(placeholder.defaultText ?? [])
                case .least: break
                }
            }
        }
        bytes += "\"".utf8
    }
}
