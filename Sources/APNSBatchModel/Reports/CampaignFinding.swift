import APNSBatchNotification

/// Something wrong or doubtful with a campaign, a template or a row.
public struct CampaignFinding: Sendable, Equatable {
    public enum Severity: String, Sendable, CaseIterable {
        /// Nothing that breaks this rule is sent.
        case error
        /// It is sent; somebody should look.
        case warning
    }

    /// The rule's name, such as `key-type`; all of them stand in docs/reference.md.
    public let rule: String
    public let severity: Severity
    /// The row's number in the input, from 1; nil when it is about the campaign or a template.
    public let row: UInt64?
    /// The input or template; nil when it is about the campaign as a whole.
    public let file: String?
    /// From 1; 0 without a file.
    public let line: UInt64
    /// From 1, in bytes of the line in an input, in characters in a template; 0 without a file.
    public let column: Int
    /// A sentence without a full stop. Never holds a card number, a key or a token.
    public let message: String

    /// `rows.csv:1042:17: badge: expected a number, found "five"`.
    public var text: String { file.map { "\($0):\(line):\(column): \(message)" } ?? message }

    package init(_ finding: RowFinding, row: UInt64?) {
        self.init(
            rule: finding.rule, row: row, file: finding.file, line: finding.line, column: finding.column,
            message: finding.message)
    }

    package init(_ finding: TemplateFinding) {
        self.init(
            rule: finding.rule, row: nil, file: finding.file, line: UInt64(finding.line), column: finding.column,
            message: finding.message)
    }

    /// About the campaign as a whole.
    package init(_ rule: Rule, _ message: String) {
        self.init(rule: rule, row: nil, file: nil, line: 0, column: 0, message: message)
    }

    /// About the header row of an input.
    package init(_ rule: Rule, inHeaderOf file: String, _ message: String) {
        self.init(rule: rule, row: nil, file: file, line: 1, column: 1, message: message)
    }

    private init(rule: Rule, row: UInt64?, file: String?, line: UInt64, column: Int, message: String) {
        self.rule = rule.rawValue
        severity = rule.severity == .error ? .error : .warning
        self.row = row
        self.file = file
        self.line = line
        self.column = column
        self.message = message
    }
}
