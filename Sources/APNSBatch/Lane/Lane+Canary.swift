/// The first rows of a campaign go alone; the other lanes, and the other rows of this one, wait for the verdict on them.
extension Lane {
    /// Nothing is sent now, and no connection is wanted for it: the campaign pauses, its deadline has passed, or the canary
    /// is under way in another lane.
    var sendsNothing: Bool { control.paused || isLate || rows.isHeld }

    private var canaryCount: Canary.Count {
        let tally = sink.tally
        return Canary.Count(
            accepted: tally[.accepted], rejected: tally[.rejected], unknown: tally[.unknown] - unknownOfEarlier,
            underWay: UInt64(flights.count))
    }

    /// Whether another row of the input may be taken.
    @inline(__always)
    var mayTakeRow: Bool {
        guard let canary else { return true }
        return canary.room(canaryCount) > 0
    }

    /// A stream of this provider. A canary does not ask for one where there is none: that is what connections grow by.
    mutating func stream(of provider: Int) -> Int? {
        if canary != nil && !providers[provider].pool.hasStream { return nil }
        return providers[provider].pool.pick()
    }

    /// After a turn's answers.
    mutating func judgeCanary() {
        guard let canary else { return }
        switch canary.verdict(canaryCount) {
        case .waiting: if isLate { endCanary() }
        case .passed:
            plan.log.canaryPassed(canary)
            endCanary()
        case .failed(let text):
            control.stop(.failure(CampaignError(.fatalAnswer, "\(plan.endpoint): \(text)")))
            endCanary()
        }
    }

    /// All lanes may send; also when this one ends without a verdict.
    mutating func endCanary() {
        guard canary != nil else { return }
        canary = nil
        control.endCanary()
    }

    /// Whether the canary is still under way in another lane.
    mutating func lookForCanary() {
        if rows.isHeld { rows.isHeld = control.isCanary && canary == nil }
    }
}
