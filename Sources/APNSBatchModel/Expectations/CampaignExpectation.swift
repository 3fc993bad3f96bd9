/// A condition that a run should meet, such as `accepted >= 95%`. ``init(_:)`` parses the text of a campaign file.
///
/// An expectation about ``Metric/rows`` is judged before the first push, and a run that does not meet it does not start. All
/// expectations are judged when the run is complete; see ``JudgedExpectation``.
public struct CampaignExpectation: Sendable, Equatable, CustomStringConvertible {
    /// A figure of a run.
    @nonexhaustive
    public enum Metric: Sendable, Hashable {
        /// The number of rows in the input.
        case rows
        /// The number of rows with this outcome.
        case outcome(Outcome)
        /// The number of rejected and unavailable rows with this reason of APNs, such as `BadDeviceToken`.
        case reason(String)
        /// The time that processes worked on the run, in seconds.
        case duration
        /// The number of accepted rows per second of that time.
        case rate
    }

    /// How a figure is compared with a limit.
    @nonexhaustive
    public enum Relation: String, Sendable, CaseIterable {
        /// The figure is the limit.
        case equal = "=="
        /// The figure is the limit or more.
        case atLeast = ">="
        /// The figure is the limit or less.
        case atMost = "<="
        /// The figure is more than the limit.
        case moreThan = ">"
        /// The figure is less than the limit.
        case lessThan = "<"

        func holds(_ found: Double, _ limit: Double) -> Bool {
            switch self {
            case .equal: found == limit
            case .atLeast: found >= limit
            case .atMost: found <= limit
            case .moreThan: found > limit
            case .lessThan: found < limit
            }
        }
    }

    /// What a figure is compared with.
    @nonexhaustive
    public enum Condition: Sendable, Equatable {
        /// A number of rows, of seconds, or of rows per second.
        case number(Relation, Double)
        /// A percentage of the rows that were to be sent, which are all rows that are not suppressed.
        case percent(Relation, Double)
        /// The median of earlier nights, from which the figure may differ by this percentage of the median.
        case nearMedian(percent: Double)
    }

    /// The figure that is judged.
    public let metric: Metric
    /// What it must be.
    public let condition: Condition
    /// The text that was parsed, with single blanks.
    public let description: String

    init(_ metric: Metric, _ condition: Condition, text: String) {
        (self.metric, self.condition, description) = (metric, condition, text)
    }
}

extension CampaignExpectation.Metric: CustomStringConvertible {
    private static let names: [(name: String, metric: Self)] =
        [("rows", .rows)] + Outcome.allCases.map { ("\($0.name)", .outcome($0)) }
        + [("duration", .duration), ("rate", .rate)]
    static let reasonPrefix = "reason:"

    /// The names of all metrics, with `reason:NAME` for those of reasons.
    static let allNames = names.map(\.name) + [reasonPrefix + "NAME"]

    init?(name: String) {
        guard let found = Self.names.first(where: { $0.name == name }) else { return nil }
        self = found.metric
    }

    /// The name, as in a campaign file.
    public var description: String {
        if case .reason(let reason) = self { return Self.reasonPrefix + reason }
        return Self.names.first { $0.metric == self }?.name ?? ""
    }

    /// Whether the metric counts rows, so that a percentage of rows makes sense.
    var countsRows: Bool { self != .duration && self != .rate }
}

extension CampaignExpectation {
    /// What is expected of a metric for which a campaign has no expectation of its own: that something is accepted, and that
    /// every row has a final answer.
    static let standard: [CampaignExpectation] = Outcome.allCases.compactMap { outcome in
        let relation: Relation? =
            switch outcome.share {
            case .any: nil
            case .none: .equal
            case .some: .moreThan
            }
        return relation.map { relation in
            CampaignExpectation(
                .outcome(outcome), .number(relation, 0), text: "\(outcome.name) \(relation.rawValue) 0")
        }
    }
}
