/// A payload with blanks that each row fills: JSON whose strings hold placeholders for columns of the input.
///
/// | in the template | in the payload |
/// |---|---|
/// | `"Hi {{first_name}}"` | the field as text, escaped, in its place; an empty field leaves nothing |
/// | `"{{badge:number}}"` | the field as a number; it must be one by JSON's grammar and stands as it is |
/// | `"{{vip:bool}}"` | `true` or `false`; the field is one of these, in any letter case, or `1` or `0` |
/// | `"{{extras:json}}"` | the field as JSON of any kind, checked, without white space |
/// | `"{{name:text}}"` | the same as `"{{name}}"`; reaches a column with a colon or question mark in its name |
/// | `"{{note?}}"`, `"{{badge:number?}}"` | as above; if the field is empty, the value goes, and its key with it |
/// | `"Hi {{first_name|there}}"`, `"{{badge:number|0}}"` | as above; if the field is empty, what follows the bar |
/// | `"{{{{"`, `"}}}}"` | `{{` and `}}` as text |
///
/// - A number, bool or json placeholder is the whole string; text placeholders stand anywhere in one.
/// - `?` takes away the whole value that holds the placeholder: the member of an object, the element of an array. In
///   mixed text too: `"Dear {{name?}}, …"` goes if there is no name. With several such placeholders one empty field is
///   enough. An object or array around it stays, even if it is empty then.
/// - An empty field is right for text only; for the other types it is an error unless the placeholder has its `?` or a
///   default. A placeholder has one of the two.
/// - A default is plain text up to the braces that close, without blanks around it, or a value of the placeholder's type,
///   checked when the template is compiled. `{{{{` and `}}}}` stand for `{{` and `}}` in it too. A bar in the name of a
///   column is doubled: `{{a||b}}`.
/// - Keys hold no placeholders and stand once in their object.
/// - Blanks around a placeholder's name and type mean nothing. Braces are recognised in the string's value, so an
///   escaped brace is a brace like any other. A single brace is text.
///
/// A template is compiled once and then never changes: any number of threads may render with it. Rendering follows a
/// flat list of steps: it copies literal bytes, escaped in advance, and writes fields straight into the output; it
/// allocates nothing and takes no locks.
package final class PayloadTemplate: Sendable {
    /// The largest template in bytes, some two hundred times what APNs takes.
    package static let sizeLimit = 1 << 20

    /// The indices of the columns that the template reads, ascending, each once.
    package let columnsUsed: [Int]
    /// The names of all columns, as they were given.
    package let columns: [String]

    /// What the template says, for the rules and for messages; rendering looks at the steps only.
    let root: TemplateNode
    let source: [UInt8]
    let file: String

    let steps: [TemplateStep]
    let literals: [UInt8]
    let growth: [FieldGrowth]
    /// Bytes of a payload apart from its fields, at most.
    let fixedCountMax: Int

    /// How much room a column's fields may need.
    struct FieldGrowth {
        let column: Int
        /// Bytes of output for each byte of the field, at most.
        var factor: Int
    }

    /// Compiles a template.
    /// - Parameters:
    ///   - json: the template's text, UTF-8.
    ///   - columns: the names in the input's header, in their order.
    ///   - file: the template's name in errors.
    /// - Throws: the first thing wrong with it, with its place.
    package convenience init(json: [UInt8], columns: [String], file: String) throws(TemplateError) {
        let source = TemplateParser.withoutMark(json)
        let root = try TemplateParser.parse(source, columns: columns, file: file)
        self.init(root, columns: columns, source: source, file: file)
    }

    /// - Parameters:
    ///   - root: an object whose placeholders name columns by index.
    ///   - source: the text that its places are in.
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
