import APNSBatchBasics

/// A complete response of APNs to a request.
package struct Answer: Equatable, Sendable {
    package let status: UInt16
    package let reason: Reason?
    /// The time from which on the token is known to be invalid, in milliseconds since 1970-01-01 00:00 UTC; sent with 410.
    package let timestamp: Int64?

    package init(status: UInt16, reason: Reason? = nil, timestamp: Int64? = nil) {
        self.status = status
        self.reason = reason
        self.timestamp = timestamp
    }

    /// Creates an answer from status and body. The body of a 200 is ignored.
    package init(status: UInt16, body: UnsafeRawBufferPointer) {
        let parsed = unsafe status == 200 ? ReasonBody() : ReasonBody.parse(body)
        self.init(status: status, reason: parsed.reason, timestamp: parsed.timestamp)
    }

    /// What to do with the row: determined by the reason if it is known, whatever the status, else by the status. 200
    /// always means accepted.
    package var action: AnswerAction {
        if status != 200, case .known(let reason) = reason { return reason.rule.action }
        return StatusRule.action(for: status)
    }

    /// Whether it is a final refusal that a single device cannot cause and that has no rule of its own: 404, 403 without a
    /// known reason, 301 and the like. If all rows get such answers, the campaign or its destination is wrong.
    package var blamesNoDevice: Bool { action == .rejected(.none) && alarm == nil }

    /// Whether it means that its connection is at an end: further requests on it get the same answer.
    package var endsConnection: Bool {
        if case .retry(let retry) = action { retry.connection == .replace } else { false }
    }

    /// Status and reason, such as `403 InvalidProviderToken`, for messages.
    package var text: String { "\(status)\(reason.map { " \($0)" } ?? "")" }

    /// What to do about it; see ``KnownReason/remedy``.
    package var remedy: String? {
        guard case .known(let reason) = reason else { return nil }
        return reason.remedy
    }

    /// What a high share of such answers means for the campaign.
    package var alarm: AnswerAlarm? {
        guard status != 200, case .known(let reason) = reason else { return nil }
        return reason.rule.alarm
    }
}

/// The body of a refusal, `{"reason":"…","timestamp":…}`. Members may be in any order, and unknown ones are ignored, as are
/// invalid values and everything from the first byte on that is not JSON. Of a truncated body, the complete members count.
///
/// Source: Apple, "Handling notification responses from APNs".
package struct ReasonBody: Equatable, Sendable {
    package var reason: Reason?
    /// Milliseconds since 1970-01-01 00:00 UTC.
    package var timestamp: Int64?

    /// Parses a body. It does not allocate if the reason is known and contains no escapes. Complexity: O(n).
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

    /// Returns a number that is not negative, without its fraction; nil if it has more than 18 digits or an exponent.
    private static func number(_ text: UnsafeRawBufferPointer) -> Int64? {
        let point = unsafe text.firstIndex(of: UInt8(ascii: ".")) ?? text.count
        guard let whole = unsafe Decimal.read(text[..<point]), unsafe text[point...].dropFirst().allSatisfy(\.isDigit)
        else {
            return nil
        }
        return Int64(whole)
    }
}

/// The debug data of a GOAWAY frame from APNs: `{"reason":"…"}`, plain text, or nothing.
///
/// Source: Apple, "Communicating with APNs" (the JSON form). Text and empty data occur in practice.
package enum GoAwayDebug: Equatable, Sendable {
    case empty
    case reason(Reason)
    /// Any other data: at most ``textLengthMax`` bytes of it, printable, without spaces at the beginning.
    case text(String)

    package static let textLengthMax = 256

    /// Parses debug data, without ever failing.
    package static func parse(_ data: UnsafeRawBufferPointer) -> GoAwayDebug {
        if let reason = unsafe ReasonBody.parse(data).reason { return .reason(reason) }
        let text = unsafe String(decoding: data.prefix(textLengthMax), as: UTF8.self)
        let trimmed = text.unicodeScalars.drop { $0 == " " || $0.isHarmful }
        return trimmed.isEmpty ? .empty : .text(Printable.text(String(trimmed)))
    }

    /// The cause of the end of a connection that got GOAWAY, such as `GOAWAY Shutdown`. What Apple does not document is left out,
    /// because a server can send any text.
    ///
    /// - Parameter code: The error code of the frame.
    package func cause(code: Int64) -> String {
        if case .reason(.known(let reason)) = self { return "GOAWAY \(reason.text)" }
        return code == 0 ? "GOAWAY" : "GOAWAY with code \(code)"
    }

    /// Whether the campaign must stop, because an answer with this reason would also stop it, whatever the error code of
    /// the frame.
    package var isFatal: Bool {
        if case .reason(.known(let reason)) = self { return reason.rule.action == .stop }
        return false
    }
}
