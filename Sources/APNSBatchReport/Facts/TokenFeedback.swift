import APNSBatchNotification

/// What the owner of a list of tokens should do about the token of a rejected row.
enum TokenFeedback: Equatable {
    /// Delete it, unless it was registered again after the time that APNs gave.
    case delete
    /// Look at it: the token may be good in the other environment, or for another app.
    case look

    /// Nil if the token is not the cause, or if the reason is not known.
    init?(reason: String) {
        guard case .known(let known) = Reason(rawValue: reason) else { return nil }
        self.init(.known(known), isDated: true)
    }

    /// - Parameter isDated: Whether the answer was a 410 with the time since when the token is invalid.
    init?(_ reason: Reason, isDated: Bool) {
        guard case .known(let known) = reason else {
            guard isDated else { return nil }
            self = .look
            return
        }
        switch (known.rule.action, known.rule.alarm) {
        case (.rejected(.delete), _): self = isDated ? .delete : .look
        case (.rejected(.quarantine), _), (_, .wrongTopic): self = .look
        default: return nil
        }
    }
}
