import APNSBatchNotification

/// A violation of a rule by a row, with its place. It is made only for rows that are not sent or that get a warning, so it
/// may hold strings.
package struct RowFinding: Equatable, Sendable {
    package let rule: Rule
    package let severity: Rule.Severity
    /// The name of the input, or of the template that causes the finding for every such row.
    package let file: String
    /// The physical line, counted from 1.
    package let line: UInt64
    /// The column, counted from 1: in bytes, or within a template in characters.
    package let column: Int
    /// A text such as `badge: expected a number, found "five"`.
    package let message: String

    package init(_ rule: Rule, file: String, line: UInt64, column: Int, _ message: String) {
        self.rule = rule
        severity = rule.severity
        (self.file, self.line, self.column, self.message) = (file, line, column, message)
    }

    /// The place, such as `rows.csv:1042:17`; empty for a notification of a sender.
    package var place: String { file.isEmpty ? "" : "\(file):\(line):\(column)" }

    /// The message after its place, such as `rows.csv:1042:17: badge: expected a number, found "five"`.
    /// A notification of a sender has no place.
    package var text: String { file.isEmpty ? message : "\(place): \(message)" }
}
