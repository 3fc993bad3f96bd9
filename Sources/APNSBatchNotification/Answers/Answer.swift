import APNSBatchBasics

/// A complete response of APNs.
package struct Answer: Equatable, Sendable {
    package let status: UInt16
    package let reason: Reason?
    /// Milliseconds since 1970-01-01 00:00 UTC since when the token is known to be invalid; comes with 410.
    package let timestamp: Int64?

    package init(status: UInt16, reason: Reason? = nil, timestamp: Int64? = nil) {
        self.status = status
        self.reason = reason
        self.timestamp = timestamp
    }

    /// From status and body as they came. On 200 the body is not looked at.
    package init(status: UInt16, body: UnsafeRawBufferPointer) {
        let parsed = unsafe status == 200 ? ReasonBody() : ReasonBody.parse(body)
        self.init(status: status, reason: parsed.reason, timestamp: parsed.timestamp)
    }

    /// What it means for its row: by the reason if it is known, whatever status came with it, else by the status.
    /// A 200 is a 200.
    package var action: AnswerAction {
        if status != 200, case .known(let reason) = reason { return reason.rule.action }
        return StatusRule.action(for: status)
    }

    /// Whether it is a final refusal that no single device can be the cause of and that no rule of its own looks at: 404, 403
    /// without a known reason, 301 and the like. When all rows get such answers, the campaign or what it was sent to is wrong.
    package var blamesNoDevice: Bool { action == .rejected(.none) && alarm == nil }

    /// Status and reason, such as `403 InvalidProviderToken`, for messages.
    package var text: String { "\(status)\(reason.map { " \($0)" } ?? "")" }

    /// What somebody can do about it; see ``KnownReason/remedy``.
    package var remedy: String? {
        guard case .known(let reason) = reason else { return nil }
        return reason.remedy
    }

    /// What a high share of it says about the campaign.
    package var alarm: AnswerAlarm? {
        guard status != 200, case .known(let reason) = reason else { return nil }
        return reason.rule.alarm
    }
}

/// The body of a refusal, `{"reason":"…","timestamp":…}`: members in any order, others among them. What makes no sense is
/// left out, and so is everything from the first byte on that is not JSON; a body that is cut short keeps what came before.
///
/// Source: Apple, "Handling notification responses from APNs".
package struct ReasonBody: Equatable, Sendable {
    package var reason: Reason?
    /// Milliseconds since 1970-01-01 00:00 UTC.
    package var timestamp: Int64?

    /// Reads a body. Allocates nothing when the reason is known and written without escapes. Complexity: O(n).
    package static func parse(_ body: UnsafeRawBufferPointer) -> ReasonBody {
        var result = ReasonBody()
        var scanner = unsafe JSONScanner(body, top: .object)
        guard scanner.next() == .objectStart else { return result }
        while scanner.next() == .key {
            let isReason = unsafe "reason".hasBytes(scanner.token)
            let isTimestamp = unsafe "timestamp".hasBytes(scanner.token)
            let value = scanner.next()
            if isReason, value == .string { result.reason = reason(scanner) }
            if isTimestamp, value == .number || value == .string {
                result.timestamp = unsafe number(scanner.token) ?? result.timestamp
            }
            scanner.finish(value)
        }
        return result
    }

    private static func reason(_ scanner: JSONScanner) -> Reason? {
        if unsafe scanner.token.isEmpty { return nil }
        return unsafe scanner.token.contains(UInt8(ascii: "\\"))
            ? Reason(rawValue: scanner.text) : Reason(bytes: scanner.token)
    }

    /// A number that is not negative, its fraction dropped; nil when it has more than 18 digits or an exponent.
    private static func number(_ text: UnsafeRawBufferPointer) -> Int64? {
        let point = unsafe text.firstIndex(of: UInt8(ascii: ".")) ?? text.count
        guard let whole = unsafe Decimal.read(text[..<point]), unsafe text[point...].dropFirst().allSatisfy(\.isDigit)
        else {
            return nil
        }
        return Int64(whole)
    }
}

/// What APNs says in the debug data of a GOAWAY frame: `{"reason":"…"}`, plain text, or nothing.
///
/// Source: Apple, "Communicating with APNs" (the JSON form); text and empty data are seen in practice.
package enum GoAwayDebug: Equatable, Sendable {
    case empty
    case reason(Reason)
    /// Anything else, at most ``textLengthMax`` bytes of it, control characters and invalid UTF-8 replaced.
    case text(String)

    package static let textLengthMax = 256

    /// Reads debug data; never fails.
    package static func parse(_ data: UnsafeRawBufferPointer) -> GoAwayDebug {
        if let reason = unsafe ReasonBody.parse(data).reason { return .reason(reason) }
        let text = unsafe String(decoding: data.prefix(textLengthMax), as: UTF8.self)
        let clean = text.unicodeScalars.map { scalar in
            scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value) ? Character(" ") : Character(scalar)
        }
        let trimmed = clean.drop { $0 == " " }
        return trimmed.isEmpty ? .empty : .text(String(trimmed))
    }

    /// Whether the campaign cannot go on: the reason would stop it as an answer, too, whatever error code the frame
    /// has.
    package var isFatal: Bool {
        if case .reason(.known(let reason)) = self { return reason.rule.action == .stop }
        return false
    }
}
