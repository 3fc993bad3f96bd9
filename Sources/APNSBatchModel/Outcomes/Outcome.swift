/// The final state of a row. A row has at most one outcome; a row of an unfinished run may have none.
@nonexhaustive
public enum Outcome: UInt8, Sendable, CaseIterable {
    /// APNs answered 200.
    case accepted = 0
    /// APNs rejected the row finally. Results have the status, the reason and, for 410, the timestamp.
    case rejected = 1
    /// APNs answered 429 or 5xx, which ask for a later request, until no attempt was left or the next one would have been
    /// too late. The notification was not delivered. With ``Campaign/retryUnavailable`` a resumed run sends it again.
    case unavailable = 6
    /// The row was never sent: it is malformed, its token is invalid, or its payload is too large or violates a rule.
    /// Results have line, column and cause.
    case invalid = 2
    /// The row may have been sent, no answer came, and it is not sent again.
    case unknown = 3
    /// The row was never sent, because its own deadline or that of the campaign had passed.
    case expired = 4
    /// It was not meant to be sent: it is before ``Campaign/firstRow``.
    case suppressed = 5

    /// The word in `results.csv` and in the summary.
    public var name: StaticString {
        switch self {
        case .accepted: "accepted"
        case .rejected: "rejected"
        case .unavailable: "unavailable"
        case .invalid: "invalid"
        case .unknown: "unknown"
        case .expired: "expired"
        case .suppressed: "suppressed"
        }
    }

    // MARK: What an outcome means elsewhere
    // The compiler asks for a new outcome here and in `CampaignSummary`. Also adjust `PerOutcome` and the documents; for an
    // answered one `OutcomeReasons`, for one that can be reopened `LedgerHistory` and `RunLedger.settle`, and decide
    // whether `Canary.Count` has it.

    /// Whether the row's reason comes from an answer of APNs.
    package var isAnswered: Bool {
        switch self {
        case .rejected, .unavailable: true
        case .accepted, .invalid, .unknown, .expired, .suppressed: false
        }
    }

    /// Whether a resumed run may send the row again (``Campaign/retryUnavailable``).
    package var canBeReopened: Bool {
        switch self {
        case .unavailable: true
        case .accepted, .rejected, .invalid, .unknown, .expired, .suppressed: false
        }
    }
}
