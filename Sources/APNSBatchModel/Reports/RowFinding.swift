import APNSBatchNotification

/// What is wrong with a row, with its place. Made off the good way, so it may hold strings.
package struct RowFinding: Equatable, Sendable {
    package let rule: Rule
    package let severity: Rule.Severity
    /// The input, or the template that is at fault for every such row.
    package let file: String
    /// 1-based physical line.
    let line: UInt64
    /// 1-based, in bytes; in characters within a template.
    let column: Int
    /// `badge: expected a number, found "five"`.
    let message: String

    package init(_ rule: Rule, file: String, line: UInt64, column: Int, _ message: String) {
        self.rule = rule
        severity = rule.severity
        self.file = file
        self.line = line
        self.column = column
        self.message = message
    }

    /// `rows.csv:1042:17: badge: expected a number, found "five"`.
    package var text: String { "\(file):\(line):\(column): \(message)" }
}
