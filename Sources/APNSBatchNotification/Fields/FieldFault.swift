/// Why a row's value for a header cannot be sent. A trivial type, so that it costs nothing if there is no fault.
package enum FieldFault: Error, Equatable, Sendable {
    case pushTypeUnknown
    case topicEmpty
    /// The length in bytes.
    case topicTooLong(Int)
    /// The offset of the first disallowed character, in bytes.
    case topicCharacter(at: Int)
    case priorityUnknown
    case priorityNotAllowed(PushType, Priority)
    case expirationNotANumber
    /// A time of no zone, such as MySQL prints.
    case expirationWithoutZone
    case expirationTooLate
    /// A duration greater than ``GivenExpiration/durationMax``.
    case expirationTooLong
    /// A broadcast without an expiration.
    case expirationMissing
    case channelID
    /// The length in bytes.
    case channelIDTooLong(Int)
    case messageID
    case collapseIDEmpty
    /// The length in bytes.
    case collapseIDTooLong(Int)
    /// The offset of the first control character, in bytes.
    case collapseIDCharacter(at: Int)
    case collapseIDBlank
}

extension FieldFault {
    package var column: String {
        switch self {
        case .pushTypeUnknown: "push_type"
        case .topicEmpty, .topicTooLong, .topicCharacter: "topic"
        case .priorityUnknown, .priorityNotAllowed: "priority"
        case .expirationNotANumber, .expirationWithoutZone, .expirationTooLate, .expirationTooLong, .expirationMissing:
            "expiration"
        case .channelID, .channelIDTooLong: "channel_id"
        case .messageID: "apns_id"
        case .collapseIDEmpty, .collapseIDTooLong, .collapseIDCharacter, .collapseIDBlank: "collapse_id"
        }
    }

    /// The fault as a sentence without a full stop: the column, what was expected, and what was found.
    ///
    /// - Parameter text: the row's value, which is quoted and cut, with control characters and invalid UTF-8 replaced.
    package func message(for text: UnsafeRawBufferPointer) -> String {
        unsafe "\(column): \(explanation(for: Array(text)))"
    }

    private func explanation(for text: [UInt8]) -> String {
        switch self {
        case .pushTypeUnknown: "expected \(PushTypeRule.names), found \(Quoted(text))"
        case .topicEmpty, .collapseIDEmpty: "expected at least one character, found nothing"
        case .topicTooLong(let count): "expected at most \(Topic.lengthMax) bytes, found \(count)"
        case .topicCharacter(let offset):
            "expected letters, digits, '.', '-' or '_', found \(Quoted(text, at: offset)) at byte \(offset + 1)"
        case .priorityUnknown: "expected 1, 5 or 10, found \(Quoted(text))"
        case .priorityNotAllowed(let type, let priority):
            "a push of type \(type.name) must have priority \(type.rule.priorityNames), found \(priority.text)"
        case .expirationNotANumber: "expected \(Self.expirationForms), found \(Quoted(text))"
        case .expirationWithoutZone:
            "expected a time with its zone, such as 2026-01-01 08:00:00+00, found \(Quoted(text)), which is another moment in each zone"
        case .expirationTooLate: "expected \(Self.expirationForms), found \(Quoted(text)), which may be milliseconds"
        case .expirationTooLong:
            "expected a duration of at most \(GivenExpiration.durationMax / 86_400) days, found \(Quoted(text))"
        case .expirationMissing: "expected \(Self.expirationForms), found nothing; every broadcast needs one"
        case .channelID: "expected base64, found \(text.isEmpty ? "nothing" : "\(Quoted(text))")"
        case .channelIDTooLong(let count): "expected at most \(ChannelID.lengthMax) bytes, found \(count)"
        case .messageID: "expected a UUID, 8-4-4-4-12 hex digits, found \(Quoted(text))"
        case .collapseIDTooLong(let count): "expected at most \(CollapseID.lengthMax) bytes, found \(count)"
        case .collapseIDCharacter(let offset):
            "expected no control characters, found \(Quoted(text, at: offset)) at byte \(offset + 1)"
        case .collapseIDBlank: "expected no whitespace at either end, found \(Quoted(text))"
        }
    }

    private static let expirationForms =
        "seconds since 1970, 0, a time such as 2026-01-01T08:00:00Z or a duration such as 2h"
}

extension PushTypeRule {
    fileprivate static var names: String {
        all.dropLast().map(\.name).joined(separator: ", ") + " or " + all[all.count - 1].name
    }

    fileprivate var priorityNames: String { priorities.map(\.text).joined(separator: " or ") }
}
