import APNSBatchModel

/// When a run gives up, because of what APNs answers or what its input is.
package struct StopLimits: Sendable {
    let outage: Outage.Limits
    let breaker: CircuitBreaker.Limits
    /// The limits of invalid rows.
    let brokenInput: CircuitBreaker.Limits

    /// Those of a campaign: a resumed run sends what is left.
    init(_ campaign: Campaign) throws(CampaignError) {
        outage = .campaign(patience: campaign.unavailablePatience.nanoseconds)
        breaker = try CircuitBreaker.Limits(campaign.circuitBreaker)
        brokenInput = try CircuitBreaker.Limits.ofRows(campaign.circuitBreaker)
    }

    /// Those of a sender, which never gives up: its notifications end when their time is over.
    private init() {
        outage = .sender(patience: Self.forever)
        breaker = CircuitBreaker.Limits(rules: [])
        brokenInput = CircuitBreaker.Limits(rules: [])
    }

    package static let ofSender = StopLimits()

    /// In nanoseconds, longer than any sender runs.
    static let forever: UInt64 = 1 << 60
}
