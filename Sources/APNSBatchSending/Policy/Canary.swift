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
        var accepted: UInt64 = 0
        var rejected: UInt64 = 0
        var unavailable: UInt64 = 0
        var unknown: UInt64 = 0
        /// Rows that have no outcome yet.
        var open: UInt64 = 0

        var taken: UInt64 { accepted + failed + open }
        var failed: UInt64 { rejected + unavailable + unknown }
    }

    let rows: UInt64
    let percent: Double
    /// The number of rows that may be rejected, unavailable or unknown.
    let limit: UInt64

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
        let unavailable = count.unavailable > 0 ? ", \(count.unavailable) unavailable" : ""
        let unknown = count.unknown > 0 ? " and \(count.unknown) unknown" : ""
        return
            "canary: \(count.rejected) rejected\(unavailable)\(unknown) of the first \(rows) rows, more than \(limit) "
            + "(\(percent) %); the rest was not sent"
    }
}
