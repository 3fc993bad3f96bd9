/// Why a row's value for a header cannot be sent. Trivial, so that the good path costs nothing.
package enum FieldFault: Error, Equatable, Sendable {
    case pushTypeUnknown
    case topicEmpty
    /// Bytes it has.
    case topicTooLong(Int)
    /// Offset of the first character that does not belong there, in bytes.
    case topicCharacter(at: Int)
    case priorityUnknown
    case priorityNotAllowed(PushType, Priority)
    case expirationNotANumber
    case expirationTooLate
    /// A duration beyond ``GivenExpiration/durationMax``.
    case expirationTooLong
    /// A broadcast without one.
    case expirationMissing
    case channelID
    /// Bytes it has.
    case channelIDTooLong(Int)
    case messageID
    case collapseIDEmpty
    /// Bytes it has.
    case collapseIDTooLong(Int)
    /// Offset of the first control character, in bytes.
    case collapseIDCharacter(at: Int)
    case collapseIDBlank
}

extension FieldFault {
    /// The column whose value it is about.
    package var column: String {
        switch self {
        case .pushTypeUnknown: "push_type"
        case .topicEmpty, .topicTooLong, .topicCharacter: "topic"
        case .priorityUnknown, .priorityNotAllowed: "priority"
        case .expirationNotANumber, .expirationTooLate, .expirationTooLong, .expirationMissing: "expiration"
        case .channelID, .channelIDTooLong: "channel_id"
        case .messageID: "apns_id"
        case .collapseIDEmpty, .collapseIDTooLong, .collapseIDCharacter, .collapseIDBlank: "collapse_id"
        }
    }

    /// A sentence without a full stop: column, what was expected, what was found.
    ///
    /// - Parameter text: the row's value; quoted shortened, control characters and invalid UTF-8 replaced.
    package func message(for text: UnsafeRawBufferPointer) -> String {
        unsafe "\(column): \(explanation(for: Array(text)))"
    }

    private func explanation(for text: [UInt8]) -> String {
        switch self {
        case .pushTypeUnknown:
            "expected \(PushTypeRule.names), found \(Quoted(text))"
        case .topicEmpty, .collapseIDEmpty:
            "expected at least one character, found nothing"
        case .topicTooLong(let count):
            "expected at most \(Topic.lengthMax) bytes, found \(count)"
        case .topicCharacter(let offset):
            "expected letters, digits, '.', '-' or '_', found \(Quoted(text, at: offset)) at byte \(offset + 1)"
        case .priorityUnknown:
            "expected 1, 5 or 10, found \(Quoted(text))"
        case .priorityNotAllowed(let type, let priority):
            "a push of type \(type.name) must have priority \(type.rule.priorityNames), found \(priority.text)"
        case .expirationNotANumber:
            "expected \(Self.expirationForms), found \(Quoted(text))"
        case .expirationTooLate:
            "expected \(Self.expirationForms), found \(Quoted(text)), which may be milliseconds"
        case .expirationTooLong:
            "expected a duration of at most \(GivenExpiration.durationMax / 86_400) days, found \(Quoted(text))"
        case .expirationMissing:
            "expected \(Self.expirationForms), found nothing; every broadcast needs one"
        case .channelID:
            "expected base64, found \(text.isEmpty ? "nothing" : "\(Quoted(text))")"
        case .channelIDTooLong(let count):
            "expected at most \(ChannelID.lengthMax) bytes, found \(count)"
        case .messageID:
            "expected a UUID, 8-4-4-4-12 hex digits, found \(Quoted(text))"
        case .collapseIDTooLong(let count):
            "expected at most \(CollapseID.lengthMax) bytes, found \(count)"
        case .collapseIDCharacter(let offset):
            "expected no control characters, found \(Quoted(text, at: offset)) at byte \(offset + 1)"
        case .collapseIDBlank:
            "expected no whitespace at either end, found \(Quoted(text))"
        }
    }
}

extension FieldFault {
    private static let expirationForms =
        "seconds since 1970, 0, a time such as 2026-01-01T08:00:00Z or a duration such as 2h"
}

extension PushTypeRule {
    fileprivate static var names: String {
        all.dropLast().map(\.name).joined(separator: ", ") + " or " + all[all.count - 1].name
    }

    /// The allowed priorities, for a message.
    fileprivate var priorityNames: String {
        priorities.map(\.text).joined(separator: " or ")
    }
}
