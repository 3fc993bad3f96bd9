import APNSBatchNotification

/// Why rows ended as they did, where that is not said by the outcome alone.
package struct OutcomeReasons: Sendable, Equatable {
    /// By the reason that APNs gave.
    package var rejected: [Reason: UInt64] = [:]
    package var unavailable: [Reason: UInt64] = [:]
    /// By the code of the rule that they break.
    var invalid: [UInt16: InvalidRows] = [:]

    package init() {}

    package mutating func count(_ reason: Reason, of outcome: Outcome) {
        if outcome == .unavailable { unavailable.countReason(reason) } else { rejected.countReason(reason) }
    }

    /// Counts a row that breaks a rule.
    ///
    /// - Parameter text: what is said of the row, which begins with its place; asked for only if that is kept.
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

    /// Invalid rows by the rule's name.
    package var invalidByRule: [String: InvalidRows] {
        invalid.reduce(into: [:]) { rules, entry in
            let name = Rule.named(entry.key) ?? InvalidRows.withoutRule
            rules[name, default: InvalidRows()].add(entry.value)
        }
    }
}

extension [Reason: UInt64] {
    /// Different reasons that are counted; a server may make up any number of them.
    private static var limit: Int { 256 }

    fileprivate mutating func countReason(_ reason: Reason) {
        let isKept = self[reason] != nil || count < Self.limit
        self[isKept ? reason : .unknown("other"), default: 0] += 1
    }

    /// By the reason's text.
    package var byName: [String: UInt64] { [String: UInt64](map { ($0.key.rawValue, $0.value) }, uniquingKeysWith: +) }
}
