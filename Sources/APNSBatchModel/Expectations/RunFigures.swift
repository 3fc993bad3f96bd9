/// The figures of a run that expectations are about, and that a history keeps of each night.
public struct RunFigures: Sendable, Equatable, Codable {
    /// The number of rows that ended; the sum of the seven below.
    public var rows: UInt64 = 0
    /// The number of rows that ended as ``Outcome/accepted``.
    public var accepted: UInt64 = 0
    /// The number of rows that ended as ``Outcome/rejected``.
    public var rejected: UInt64 = 0
    /// The number of rows that ended as ``Outcome/unavailable``.
    public var unavailable: UInt64 = 0
    /// The number of rows that ended as ``Outcome/invalid``.
    public var invalid: UInt64 = 0
    /// The number of rows that ended as ``Outcome/unknown``.
    public var unknown: UInt64 = 0
    /// The number of rows that ended as ``Outcome/expired``.
    public var expired: UInt64 = 0
    /// The number of rows that ended as ``Outcome/suppressed``.
    public var suppressed: UInt64 = 0
    /// The number of rejected and unavailable rows by APNs's reason.
    public var reasons: [String: UInt64] = [:]
    /// The time that processes worked on the run.
    public var seconds = 0.0
    /// ``accepted`` divided by ``seconds``.
    public var acceptedPerSecond = 0.0

    /// Creates figures of 0.
    public init() {}

    enum CodingKeys: String, CodingKey {
        case rows, accepted, rejected, unavailable, invalid, unknown, expired, suppressed, reasons, seconds
        case acceptedPerSecond = "accepted_per_second"
    }

    /// The number of rows that were to be sent.
    var rowsToSend: UInt64 { rows - min(rows, suppressed) }

    func value(of metric: CampaignExpectation.Metric) -> Double {
        switch metric {
        case .rows: Double(rows)
        case .accepted: Double(accepted)
        case .rejected: Double(rejected)
        case .unavailable: Double(unavailable)
        case .invalid: Double(invalid)
        case .unknown: Double(unknown)
        case .expired: Double(expired)
        case .suppressed: Double(suppressed)
        case .reason(let name): Double(reasons[name] ?? 0)
        case .duration: seconds
        case .rate: acceptedPerSecond
        }
    }
}
