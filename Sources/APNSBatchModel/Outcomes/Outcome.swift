/// The final state of a row. Each row of the input has exactly one outcome.
public enum Outcome: UInt8, Sendable, CaseIterable {
    /// APNs answered 200.
    case accepted = 0
    /// APNs rejected the row finally. Results have the status, the reason and, for 410, the timestamp.
    case rejected = 1
    /// APNs answered 429 or 5xx, which ask for a later request, until no attempt was left. The notification was not
    /// delivered. With ``Campaign/retryUnavailable`` a resumed run sends it again.
    case unavailable = 6
    /// The row was never sent: it is malformed, its token is invalid, or its payload is too large or violates a rule.
    /// Results have line, column and cause.
    case invalid = 2
    /// The row may have been sent, no answer came, and it is not sent again.
    case unknown = 3
    /// The row was never sent, because its own deadline or that of the campaign had passed.
    case expired = 4
    /// The row was never sent, because it is on the suppression list or a duplicate.
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

    // MARK: What an outcome means elsewhere. A new one must be decided here, and nowhere else.

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

/// A value for each outcome, at its raw value. Has as many places as there are outcomes.
@usableFromInline package typealias PerOutcome<Value: ~Copyable> = InlineArray<7, Value>

/// The number of rows by outcome.
@usableFromInline package struct OutcomeCounts: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    /// The counts by the outcome's raw value.
    @usableFromInline package var counts = PerOutcome<UInt64>(repeating: 0)

    @usableFromInline
    package init(dictionaryLiteral elements: (Outcome, UInt64)...) {
        for (outcome, count) in elements { self[outcome] = count }
    }

    @inlinable
    package subscript(outcome: Outcome) -> UInt64 {
        get { counts[Int(outcome.rawValue)] }
        set { counts[Int(outcome.rawValue)] = newValue }
    }

    /// The number of all rows.
    var sum: UInt64 { counts.indices.reduce(0) { $0 + counts[$1] } }

    package static func += (left: inout OutcomeCounts, right: OutcomeCounts) {
        for index in left.counts.indices { left.counts[index] += right.counts[index] }
    }

    @usableFromInline
    package static func == (left: OutcomeCounts, right: OutcomeCounts) -> Bool {
        left.counts.indices.allSatisfy { left.counts[$0] == right.counts[$0] }
    }
}
