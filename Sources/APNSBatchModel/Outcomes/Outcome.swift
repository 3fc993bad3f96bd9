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

    /// Returns nil for a text that is no name of an outcome.
    package init?(name: String) {
        guard let found = Self.allCases.first(where: { "\($0.name)" == name }) else { return nil }
        self = found
    }
}

/// The rows with each outcome by its name.
extension RowsByOutcome {
    /// The number of rows that ended as ``Outcome/accepted``; in a check, the number of rows that would be sent.
    public var accepted: UInt64 {
        get { self[.accepted] }
        set { self[.accepted] = newValue }
    }
    /// The number of rows that ended as ``Outcome/rejected``.
    public var rejected: UInt64 {
        get { self[.rejected] }
        set { self[.rejected] = newValue }
    }
    /// The number of rows that ended as ``Outcome/unavailable``.
    public var unavailable: UInt64 {
        get { self[.unavailable] }
        set { self[.unavailable] = newValue }
    }
    /// The number of rows that ended as ``Outcome/invalid``.
    public var invalid: UInt64 {
        get { self[.invalid] }
        set { self[.invalid] = newValue }
    }
    /// The number of rows that ended as ``Outcome/unknown``.
    public var unknown: UInt64 {
        get { self[.unknown] }
        set { self[.unknown] = newValue }
    }
    /// The number of rows that ended as ``Outcome/expired``.
    public var expired: UInt64 {
        get { self[.expired] }
        set { self[.expired] = newValue }
    }
    /// The number of rows that ended as ``Outcome/suppressed``.
    public var suppressed: UInt64 {
        get { self[.suppressed] }
        set { self[.suppressed] = newValue }
    }
}
