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
        let parsed = status == 200 ? ReasonBody() : ReasonBody.parse(body)
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
