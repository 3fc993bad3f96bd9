/// What to do about an answer whose reason is missing or unknown: one row of the table of status classes.
///
/// Source: RFC 9110 section 15, and for 429 RFC 6585 section 4.
package struct StatusRule: Sendable {
    package let statuses: ClosedRange<UInt16>
    package let action: AnswerAction
    /// For the documentation.
    package let note: String

    /// The table; the first row that fits counts.
    package static let all = [
        StatusRule(statuses: 200...200, action: .accepted, note: "the push was taken"),
        StatusRule(
            statuses: 410...410, action: .rejected(.quarantine),
            note: "the token is gone, but for a reason that is not known"),
        StatusRule(
            statuses: 429...429, action: .retry(Retry(after: .short)), note: "too many requests: slower, not never"),
        StatusRule(statuses: 500...599, action: .retry(Retry(after: .long)), note: "the server failed: send again"),
        StatusRule(
            statuses: 0...UInt16.max, action: .rejected(.none),
            note: "4xx is final; of anything else APNs says nothing, and it was no 200"),
    ]

    /// The action for a status.
    static func action(for status: UInt16) -> AnswerAction {
        for rule in all where rule.statuses.contains(status) { return rule.action }
        return .rejected(.none)
    }
}
