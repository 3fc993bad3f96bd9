import APNSBatchModel

/// Decides after the first rows of a campaign whether the rest is sent.
///
/// A pure value. Its input is the counts of a lane, its output a verdict. It decides as soon as no row without an outcome
/// can change the verdict, so that a few rows that are sent again and again do not delay the rest.
package struct Canary: Equatable, Sendable {
    enum Verdict: Equatable, Sendable {
        case waiting
        case passed
        case failed(String)
    }

    /// The numbers of rows that were taken from the input to be sent, by their outcome.
    struct Count: Equatable, Sendable {
        var outcomes: OutcomeCounts = [:]
        /// Rows that have no outcome yet.
        var open: UInt64 = 0

        var taken: UInt64 { outcomes[.accepted] + failed + open }
        var failed: UInt64 { Canary.failures.reduce(0) { $0 + outcomes[$1] } }
    }

    let rows: UInt64
    let percent: Double
    /// The number of rows that may fail: those that were sent, or may have been, and were not accepted.
    let limit: UInt64
    private static let failures = Outcome.allCases.filter { $0.arrival != .notSent && $0 != .accepted }

    init(_ given: Campaign.Canary) throws(CampaignError) {
        guard given.rows >= 1 else {
            throw CampaignError(.configuration, "canary: expected at least 1 row, found \(given.rows)")
        }
        guard (0...100).contains(given.maxRejectedPercent) else {
            throw CampaignError(
                .configuration,
                "canary: expected a limit of 0 to 100 percent of rejected rows, found \(given.maxRejectedPercent)")
        }
        rows = UInt64(given.rows)
        percent = given.maxRejectedPercent
        limit = UInt64((Double(rows) * percent / 100).rounded(.down))
    }

    /// Returns the number of rows that may still be taken.
    func room(_ count: Count) -> Int { Int(rows - min(rows, count.taken)) }

    func verdict(_ count: Count) -> Verdict {
        if count.failed > limit { return .failed(text(count)) }
        return count.taken >= rows && count.failed + count.open <= limit ? .passed : .waiting
    }

    private func text(_ count: Count) -> String {
        let others = Self.failures.filter { $0 != .rejected && count.outcomes[$0] > 0 }.map { outcome in
            "\(outcome.arrival == .answered ? "," : " and") \(count.outcomes[outcome]) \(outcome.name)"
        }
        return
            "canary: \(count.outcomes[.rejected]) rejected\(others.joined()) of the first \(rows) rows, more than \(limit) "
            + "(\(percent) %); the rest was not sent"
    }
}
