import APNSBatchNotification

/// One violation of a rule by a campaign, a template or a row.
public struct CampaignFinding: Sendable, Equatable {
    /// What a violation means for what violates the rule.
    @nonexhaustive
    public enum Severity: String, Sendable, CaseIterable {
        /// What violates the rule is not sent.
        case error
        /// What violates the rule is sent nevertheless, but should be checked.
        case warning
    }

    /// The rule's name, such as `key-type`. docs/reference/rules.md lists all rules.
    public let rule: String
    /// The severity of the rule.
    public let severity: Severity
    /// The row's number in the input, counted from 1; nil when the finding concerns the campaign or a template.
    public let row: UInt64?
    /// The name of the input or template; nil when the finding concerns the campaign as a whole.
    public let file: String?
    /// The line, counted from 1; 0 without a file.
    public let line: UInt64
    /// The column, counted from 1: in bytes within a line of the input, in characters within a template. 0 without a file.
    public let column: Int
    /// A sentence without a full stop. It never contains a card number, a key or a token.
    public let message: String

    /// The message after its place, such as `rows.csv:1042:17: badge: expected a number, found "five"`.
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

    /// Creates a finding about the campaign as a whole.
    package init(_ rule: Rule, _ message: String) {
        self.init(rule: rule, row: nil, file: nil, line: 0, column: 0, message: message)
    }

    /// Creates a finding about the header row of an input.
    package init(_ rule: Rule, inHeaderOf file: String, _ message: String) {
        self.init(rule: rule, row: nil, file: file, line: 1, column: 1, message: message)
    }

    private init(rule: Rule, row: UInt64?, file: String?, line: UInt64, column: Int, message: String) {
        self.rule = rule.rawValue
        severity = rule.severity == .error ? .error : .warning
        (self.row, self.file, self.line, self.column, self.message) = (row, file, line, column, message)
    }
}
