import APNSBatchNotification

/// The number of rows by the reason of their outcome, for outcomes that have different reasons.
package struct OutcomeReasons: Sendable, Equatable {
    /// The rows by APNs's reason, at the outcome's raw value; empty for outcomes that do not come from an answer.
    private var answers = PerOutcome<[Reason: UInt64]>(repeating: [:])
    /// The invalid rows by the code of the violated rule.
    var invalid: [UInt16: InvalidRows] = [:]

    package init() {}

    /// The rows with an outcome by APNs's reason.
    package subscript(outcome: Outcome) -> [Reason: UInt64] {
        get { answers[Int(outcome.rawValue)] }
        set { answers[Int(outcome.rawValue)] = newValue }
    }

    package mutating func count(_ reason: Reason, of outcome: Outcome) {
        answers[Int(outcome.rawValue)].countReason(reason)
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.invalid == right.invalid && Outcome.allCases.allSatisfy { left[$0] == right[$0] }
    }

    /// Counts a row that violates a rule.
    ///
    /// - Parameter text: The finding's text, which begins with its place. Called only if the place is kept.
    package mutating func count(
        invalid row: UInt64, code: UInt16, text: () throws -> String
    ) rethrows {
        if invalid[code, default: InvalidRows()].keepsPlace(of: row) {
            let place = InvalidRows.place(in: try text())
            invalid[code, default: InvalidRows()].count(row, place: place)
        } else {
            invalid[code, default: InvalidRows()].count(row, place: nil)
        }
    }

    /// The invalid rows by the rule's name.
    package var invalidByRule: [String: InvalidRows] {
        invalid.reduce(into: [:]) { rules, entry in
            let name = Rule.named(entry.key) ?? InvalidRows.withoutRule
            rules[name, default: InvalidRows()].add(entry.value)
        }
    }
}

extension [Reason: UInt64] {
    /// The maximum number of different reasons that are counted, since a server can send any number of them.
    private static var limit: Int { 256 }

    fileprivate mutating func countReason(_ reason: Reason) {
        let isKept = self[reason] != nil || count < Self.limit
        self[isKept ? reason : .unknown("other"), default: 0] += 1
    }

    /// The counts by the reason's text.
    package var byName: [String: UInt64] { [String: UInt64](map { ($0.key.rawValue, $0.value) }, uniquingKeysWith: +) }
}
