import APNSBatchBasics
import APNSBatchModel
import APNSBatchNotification

extension CircuitBreaker.Limits {
    /// Creates the campaign's own rules, and the default ones for reasons that it does not name.
    init(_ given: Campaign.CircuitBreaker) throws(CampaignError) {
        guard given.minimum <= given.window else {
            throw CampaignError(
                .configuration,
                "stop minimum: expected at most the window of \(given.window) answers, found \(given.minimum)")
        }
        window = UInt64(given.window)
        minimum = UInt64(given.minimum)
        var own: [CircuitBreaker.Rule] = []
        var named: Set<KnownReason> = []
        for (name, share) in given.shares.sorted(by: { $0.key < $1.key })
        where name != Campaign.CircuitBreaker.invalidRows {
            let reason = try Self.reason(name)
            if let reason { named.insert(reason) }
            guard case .percent(let percent) = share else { continue }
            try Self.check(percent, of: name)
            own.append(CircuitBreaker.Rule(reason: reason, percent: percent))
        }
        let isNever = given.shares[Campaign.CircuitBreaker.anyReason] == .never
        rules =
            own
            + CircuitBreaker.Rule.defaults.filter { rule in
                rule.reason.map { !named.contains($0) } ?? !isNever
            }
    }

    /// The limits of invalid rows; a campaign may set the share.
    static func ofRows(_ given: Campaign.CircuitBreaker) throws(CampaignError) -> Self {
        var limits = Self()
        (limits.window, limits.minimum) = (UInt64(given.window), UInt64(given.minimum))
        switch given.shares[Campaign.CircuitBreaker.invalidRows] {
        case nil: limits.rules = [.brokenInput]
        case .percent(let percent)?:
            try check(percent, of: Campaign.CircuitBreaker.invalidRows)
            limits.rules = [CircuitBreaker.Rule(.invalidRows, percent: percent)]
        default: limits.rules = []
        }
        return limits
    }

    private static func check(_ percent: Double, of name: String) throws(CampaignError) {
        guard percent > 0, percent <= 100 else {
            throw CampaignError(
                .configuration,
                "circuit breaker: \(name): expected more than 0 and at most 100 percent, found \(percent)")
        }
    }

    private static func reason(_ name: String) throws(CampaignError) -> KnownReason? {
        if name == Campaign.CircuitBreaker.anyReason { return nil }
        guard case .known(let reason) = Reason(rawValue: name) else {
            let known =
                KnownReason.allCases.map { Reason.known($0).rawValue } + [
                    Campaign.CircuitBreaker.anyReason, Campaign.CircuitBreaker.invalidRows,
                ]
            let hint = NearestName.find(name, in: known).map { "; did you mean \($0)?" } ?? ""
            throw CampaignError(
                .configuration,
                "circuit breaker: expected one of APNs's reasons, any or invalid, found \(name.quoted)\(hint)")
        }
        return reason
    }
}
