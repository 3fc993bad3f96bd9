import APNSBatchNotification

/// The number of answers other than 200, from the start of a session to some moment, by reason.
///
/// Reasons that APNs does not document are counted by the class of their status only, because a server can send any number of
/// them.
package struct RefusalCounts: Equatable, Sendable {
    /// The number of the elements of ``counts``: known reasons, then classes of statuses.
    package static let size = KnownReason.allCases.count + classes
    /// Statuses from 100 to 599, and those outside of these, by their hundreds.
    private static let classes = 6

    /// The counts by ``index(of:)``.
    package var counts = [UInt64](repeating: 0, count: size)

    package init() {}

    /// Returns where an answer is counted.
    package static func index(of answer: Answer) -> Int {
        if case .known(let reason) = answer.reason { return Int(reason.rawValue) }
        let hundreds = Int(answer.status / 100)
        return KnownReason.allCases.count + (1..<classes ~= hundreds ? hundreds : 0)
    }

    /// The number of all answers other than 200.
    package var total: UInt64 { counts.reduce(0, &+) }

    /// Calls `body` for each place at which answers are counted: the status, or its class such as `4xx`, the reason or
    /// `other`, and the number of answers.
    package func forEach(_ body: (_ status: String, _ reason: String, _ count: UInt64) -> Void) {
        for reason in KnownReason.allCases {
            body("\(reason.rule.status)", reason.text, counts[Int(reason.rawValue)])
        }
        for hundreds in 0..<Self.classes {
            let status = hundreds == 0 ? "other" : "\(hundreds)xx"
            body(status, "other", counts[KnownReason.allCases.count + hundreds])
        }
    }
}
