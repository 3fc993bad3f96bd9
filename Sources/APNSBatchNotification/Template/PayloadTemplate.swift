/// A template for payloads: JSON whose strings contain placeholders for columns of the input.
///
/// | in the template | in the payload |
/// |---|---|
/// | `"Hi {{first_name}}"` | the field as escaped text; nothing if the field is empty |
/// | `"{{badge:number}}"` | the field as a number; it must be a valid JSON number and is copied unchanged |
/// | `"{{vip:bool}}"` | `true` or `false`; the field must be one of these, in any case, or `1` or `0` |
/// | `"{{extras:json}}"` | the field as a JSON value of any type, checked and without white space |
/// | `"{{name:text}}"` | the same as `"{{name}}"`, for columns with a colon or question mark in their names |
/// | `"{{note?}}"`, `"{{badge:number?}}"` | as above; if the field is empty, the value is removed with its key |
/// | `"Hi {{first_name|there}}"`, `"{{badge:number|0}}"` | as above; if the field is empty, the text after the bar |
/// | `"{{{{"`, `"}}}}"` | `{{` and `}}` as text |
///
/// - A number, bool or json placeholder must be the whole string; text placeholders may be anywhere in a string.
/// - `?` removes the whole value that contains the placeholder: the member of an object, or the element of an array. This
///   includes mixed text: `"Dear {{name?}}, …"` is removed if the name is empty. With several such placeholders one empty
///   field is enough. The object or array around the value stays, even if it becomes empty.
/// - An empty field is valid for text only. For other types it is an error, unless the placeholder has `?` or a default. It
///   cannot have both.
/// - A default is plain text up to the closing braces, without blanks around it, or a value of the placeholder's type,
///   which is checked when the template is compiled. `{{{{` and `}}}}` stand for `{{` and `}}` in a default, too. A bar in
///   the name of a column is doubled: `{{a||b}}`.
/// - Keys contain no placeholders, and are unique in their object.
/// - Blanks around a placeholder's name and type are ignored. Braces are recognised in the string's value, so an escaped
///   brace is a brace like any other. A single brace is text.
///
/// A template is immutable, so that any number of threads may render with it. It is compiled to a flat list of steps:
/// rendering copies literal bytes, which are already escaped, and writes fields straight into the output. It does not
/// allocate and takes no locks.
package final class PayloadTemplate: Sendable {
    /// The maximum size of a template in bytes, about two hundred times the limit of APNs.
    package static let sizeLimit = 1 << 20

    /// The indices of the columns that the template uses, ascending and without duplicates.
    package let columnsUsed: [Int]
    /// The names of all columns.
    package let columns: [String]

    /// The tree of the template, for the rules and for messages. Rendering uses the steps only.
    let root: TemplateNode
    let source: [UInt8]
    let file: String

    let steps: [TemplateStep]
    let literals: [UInt8]
    let growth: [FieldGrowth]
    /// The maximum length of a payload without its fields, in bytes.
    let fixedCountMax: Int

    /// The room that a column's fields may need.
    struct FieldGrowth {
        let column: Int
        /// The maximum number of output bytes for each byte of the field.
        var factor: Int
    }

    /// Compiles a template.
    ///
    /// - Parameters:
    ///   - json: the template's text in UTF-8.
    ///   - columns: the names in the input's header, in order.
    ///   - file: the template's name in error messages.
    /// - Throws: the first error in the template, with its place.
    package convenience init(json: [UInt8], columns: [String], file: String) throws(TemplateError) {
        let source = TemplateParser.withoutMark(json)
        let root = try TemplateParser.parse(source, columns: columns, file: file)
        self.init(root, columns: columns, source: source, file: file)
    }

    /// - Parameters:
    ///   - root: an object whose placeholders name columns by index.
    ///   - source: the text to which the offsets in the tree refer.
    init(_ root: TemplateNode, columns: [String], source: [UInt8], file: String) {
        self.root = root
        self.source = source
        self.file = file
        let program = TemplateProgram(root)
        self.columns = columns
        steps = program.steps
        literals = program.literals
        growth = Self.growth(of: program)
        fixedCountMax = literals.count + steps.count { $0.action == .bool } * BoolField.writtenCountMax
        columnsUsed = growth.map(\.column)
    }

    private static func growth(of program: TemplateProgram) -> [FieldGrowth] {
        var factors: [UInt32: Int] = [:]
        for step in program.steps {
            switch step.action {
            case .text: factors[step.column, default: 0] += JSONString.growthMax
            case .number, .json: factors[step.column, default: 0] += 1
            case .bool, .skipIfEmpty: factors[step.column, default: 0] += 0
            case .none, .jump, .dropComma, .end: break
            }
        }
        return factors.sorted { $0.key < $1.key }.map { FieldGrowth(column: Int($0.key), factor: $0.value) }
    }
}
