import APNSBatch
import APNSBatchBasics
import APNSBatchModel

/// The rows by the values of a column, as text and page show them.
struct BreakdownWords {
    /// The rows with one value.
    struct Line: Equatable {
        var name: String
        var rows: UInt64
        /// The share of accepted rows.
        var acceptedPercent: Double
        /// The rows of each outcome, in the order of ``outcomes``.
        var counts: [UInt64]
    }

    let title: String
    /// The outcomes that rows have, in their usual order.
    let outcomes: [Outcome]
    /// The values, those with most rows first, and then the other rows.
    let lines: [Line]
    /// A sentence about values that are counted with the other rows here; nil if there are none.
    let rest: String?

    private static let valuesMax = 20

    init(_ breakdown: CampaignSummary.Breakdown) {
        title = "By \(breakdown.column)"
        var breakdown = breakdown
        let more = breakdown.values.count - Self.valuesMax
        rest = more > 0 ? "\(more) of the other values are in report.json." : nil
        breakdown.limit(to: Self.valuesMax)
        let groups = breakdown.values + [breakdown.others].compactMap(\.self)
        let outcomes = Outcome.allCases.filter { outcome in outcome == .accepted || groups.contains { $0[outcome] > 0 }
        }
        self.outcomes = outcomes
        lines = groups.map { group in
            Line(
                name: Self.name(group.value), rows: group.rows,
                acceptedPercent: group.rows > 0 ? Double(group[.accepted]) / Double(group.rows) * 100 : 0,
                counts: outcomes.map { group[$0] })
        }
    }

    private static func name(_ value: String?) -> String {
        switch value {
        case nil: "all others"
        case ""?: "(empty)"
        case let value?: value
        }
    }
}
