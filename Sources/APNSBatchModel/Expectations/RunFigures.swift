/// The figures of a run that expectations are about, and that a history keeps of each night.
public struct RunFigures: Sendable, Equatable, RowsByOutcome {
    /// The rows by outcome, without requests and reasons.
    public var totals = RunTotals()
    /// The number of rejected and unavailable rows by APNs's reason.
    public var reasons: [String: UInt64] = [:]
    /// The time that processes worked on the run.
    public var seconds = 0.0
    /// ``RowsByOutcome/accepted`` divided by ``seconds``.
    public var acceptedPerSecond = 0.0

    /// Creates figures of 0.
    public init() {}

    /// Creates the figures of a run.
    ///
    /// - Parameters:
    ///   - totals: Those of its summary.
    ///   - seconds: The time that processes worked on it.
    package init(_ totals: RunTotals, seconds: Double, acceptedPerSecond: Double) {
        self.totals = totals.withoutRequests
        for outcome in Outcome.allCases { reasons.merge(totals[reasonsOf: outcome], uniquingKeysWith: &+) }
        (self.seconds, self.acceptedPerSecond) = (seconds, acceptedPerSecond)
    }

    /// Creates the figures of an input before its first push, as if every other row were accepted.
    init(input rows: UInt64, invalid: UInt64 = 0, suppressed: UInt64 = 0) {
        (self.invalid, self.suppressed) = (invalid, suppressed)
        accepted = rows - min(rows, self.rows)
    }

    /// The number of rows that were to be sent.
    var rowsToSend: UInt64 { rows - min(rows, suppressed) }

    func value(of metric: CampaignExpectation.Metric) -> Double {
        switch metric {
        case .rows: Double(rows)
        case .outcome(let outcome): Double(self[outcome])
        case .reason(let name): Double(reasons[name] ?? 0)
        case .duration: seconds
        case .rate: acceptedPerSecond
        }
    }
}

extension RunFigures: Codable {
    private enum Key: String, CodingKey {
        case reasons, seconds
        case acceptedPerSecond = "accepted_per_second"
    }

    /// Reads figures. An outcome without a member has no rows.
    public init(from decoder: any Decoder) throws {
        totals = try RunTotals(rowsFrom: decoder)
        let members = try decoder.container(keyedBy: Key.self)
        reasons = try members.decode([String: UInt64].self, forKey: .reasons)
        seconds = try members.decode(Double.self, forKey: .seconds)
        acceptedPerSecond = try members.decode(Double.self, forKey: .acceptedPerSecond)
    }

    /// Writes figures: the rows by the names of the outcomes, and the others beside them.
    public func encode(to encoder: any Encoder) throws {
        try totals.encodeRows(to: encoder)
        var members = encoder.container(keyedBy: Key.self)
        try members.encode(reasons, forKey: .reasons)
        try members.encode(seconds, forKey: .seconds)
        try members.encode(acceptedPerSecond, forKey: .acceptedPerSecond)
    }
}
