/// A value that has rows by outcome. Its members count rows.
public protocol RowsByOutcome {
    /// The rows by outcome. What else they have depends on the type.
    var totals: RunTotals { get set }
}

extension RowsByOutcome {
    /// The number of rows with this outcome.
    public subscript(outcome: Outcome) -> UInt64 {
        get { totals[outcome] }
        set { totals[outcome] = newValue }
    }

    /// The number of rows that have an outcome.
    public var rows: UInt64 { totals.rows }

    /// Returns the number of rows whose outcomes have a property.
    ///
    /// - Parameter isCounted: Whether rows with an outcome count. Called once for each outcome.
    public func rows(where isCounted: (Outcome) -> Bool) -> UInt64 {
        Outcome.allCases.reduce(0) { isCounted($1) ? $0.addingSaturating(totals[$1]) : $0 }
    }
}

/// The rows of a run, of a part of it, or of a session: how many ended in which way, and how many requests they took.
///
/// In JSON, each number is a member of its own: `rows`, the names of the outcomes, `attempts`, `resent`, and the rows by reason.
/// An outcome without a member has no rows.
public struct RunTotals: Sendable, Equatable {
    package var outcomes: OutcomeCounts
    /// The number of requests for these rows, as given in their lines of `results.csv`; 0 where a type has only rows.
    public var attempts: UInt64
    /// The number of rows that were sent again although an earlier request may have arrived, so that they may have arrived
    /// twice; 0 where a type has only rows.
    public var resent: UInt64
    /// The rows by the reasons of APNs. Outcomes without one are left out, so that equal totals are equal here.
    private var reasons: [Outcome: [String: UInt64]] = [:]

    /// Creates totals of 0.
    public init() { self.init([:]) }

    package init(_ outcomes: OutcomeCounts) { (self.outcomes, attempts, resent) = (outcomes, 0, 0) }

    package init(_ tally: Tally, _ reasons: OutcomeReasons) {
        (outcomes, attempts, resent) = (tally.outcomes, tally.attempts, tally.resent)
        for outcome in Outcome.allCases { self[reasonsOf: outcome] = reasons[outcome].byName }
    }

    /// The number of rows with this outcome.
    public subscript(outcome: Outcome) -> UInt64 {
        get { outcomes[outcome] }
        set { outcomes[outcome] = newValue }
    }

    /// The number of rows with this outcome by APNs's reason; empty for an outcome that does not come from an answer.
    public subscript(reasonsOf outcome: Outcome) -> [String: UInt64] {
        get { reasons[outcome] ?? [:] }
        set { reasons[outcome] = newValue.isEmpty ? nil : newValue }
    }

    /// The number of all rows.
    public var rows: UInt64 { rows { _ in true } }

    /// The same rows, without requests and reasons.
    package var withoutRequests: RunTotals { RunTotals(outcomes) }

    /// The maximum number of different reasons that are added up; the others are added together.
    private static let reasonsMax = 256

    /// Adds the rows of a part.
    package static func += (left: inout RunTotals, right: RunTotals) {
        for outcome in Outcome.allCases {
            left[outcome] = left[outcome].addingSaturating(right[outcome])
            left[reasonsOf: outcome].add(right[reasonsOf: outcome], most: reasonsMax)
        }
        left.attempts = left.attempts.addingSaturating(right.attempts)
        left.resent = left.resent.addingSaturating(right.resent)
    }
}

extension RunTotals: RowsByOutcome {
    /// These totals.
    public var totals: RunTotals {
        get { self }
        set { self = newValue }
    }
}

extension RunTotals: Codable {
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
        init(_ name: StaticString) { stringValue = "\(name)" }

        static let rows = Key("rows")
        static let attempts = Key("attempts")
        static let resent = Key("resent")
    }

    /// Reads all members. One that is missing is 0.
    public init(from decoder: any Decoder) throws {
        try self.init(rowsFrom: decoder)
        let members = try decoder.container(keyedBy: Key.self)
        attempts = try members.decodeIfPresent(UInt64.self, forKey: .attempts) ?? 0
        resent = try members.decodeIfPresent(UInt64.self, forKey: .resent) ?? 0
        for outcome in Outcome.allCases {
            guard let key = outcome.reasonsKey else { continue }
            self[reasonsOf: outcome] = try members.decodeIfPresent([String: UInt64].self, forKey: Key(key)) ?? [:]
        }
    }

    /// Reads the rows by outcome alone.
    package init(rowsFrom decoder: any Decoder) throws {
        self.init()
        let members = try decoder.container(keyedBy: Key.self)
        for outcome in Outcome.allCases {
            self[outcome] = try members.decodeIfPresent(UInt64.self, forKey: Key(outcome.name)) ?? 0
        }
    }

    /// Writes all members. They can be followed by others of the same object.
    public func encode(to encoder: any Encoder) throws {
        try encodeRows(to: encoder)
        var members = encoder.container(keyedBy: Key.self)
        try members.encode(attempts, forKey: .attempts)
        try members.encode(resent, forKey: .resent)
        for outcome in Outcome.allCases {
            if let key = outcome.reasonsKey { try members.encode(self[reasonsOf: outcome], forKey: Key(key)) }
        }
    }

    /// Writes the rows, all and by outcome.
    func encodeRows(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        try members.encode(rows, forKey: .rows)
        try encodeOutcomes(to: encoder)
    }

    /// Writes the rows by outcome, without their sum.
    package func encodeOutcomes(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        for outcome in Outcome.allCases { try members.encode(self[outcome], forKey: Key(outcome.name)) }
    }
}

extension [String: UInt64] {
    /// Adds the counts of a part.
    ///
    /// - Parameter most: The number of texts after which further ones are counted as `other`.
    package mutating func add(_ part: Self, most: Int) {
        for (text, count) in part {
            let isKept = self[text] != nil || self.count < most
            self[isKept ? text : "other", default: 0] &+= count
        }
    }
}

extension UInt64 {
    /// A damaged file may have any number.
    fileprivate func addingSaturating(_ other: UInt64) -> UInt64 {
        let (sum, isTooLarge) = addingReportingOverflow(other)
        return isTooLarge ? .max : sum
    }
}
