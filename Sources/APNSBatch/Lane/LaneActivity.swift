/// What a lane does at the moment, for whoever shows progress.
enum LaneActivity: Sendable, Equatable {
    /// It has no rows, or none that it may send now.
    case idle
    case sending
    case waiting(CampaignProgress.Waiting)

    /// Why a run waits: the reason of its first lane that does, unless another one sends.
    static func waiting(_ lanes: [LaneActivity]) -> CampaignProgress.Waiting? {
        guard !lanes.contains(.sending) else { return nil }
        for case .waiting(let reason) in lanes { return reason }
        return nil
    }
}

extension Lane {
    /// Shows what the lane does. Strings are made only while it waits.
    ///
    /// - Parameter hasWork: of any provider.
    mutating func showActivity(hasWork: Bool) {
        let activity = activity(hasWork: hasWork)
        if case .waiting(let reason) = activity { plan.log.waiting(reason, now: now) }
        guard activity != shown else { return }
        shown = activity
        gauges.show(activity)
    }

    private func activity(hasWork: Bool) -> LaneActivity {
        guard hasWork else { return backOff().map(LaneActivity.waiting) ?? .idle }
        var found: CampaignProgress.Waiting?
        for provider in providers.indices where providers[provider].pool.hasWork {
            guard let reason = providers[provider].pool.waiting(now: now) ?? probing(provider) else { return .sending }
            found = found ?? detailed(reason, provider)
        }
        return found.map(LaneActivity.waiting) ?? .sending
    }

    /// What a first connection waits for.
    private func detailed(
        _ reason: CampaignProgress.Waiting, _ provider: Int
    ) -> CampaignProgress.Waiting {
        guard case .connecting(_, let seconds) = reason else { return reason }
        if !providers[provider].opening.isEmpty { return .resolving(name: addresses.host) }
        let members = providers[provider].pool.members
        guard let first = members.first(where: { $0.phase == .connecting }) else { return reason }
        let stage =
            switch transport.stage(of: first.connection) {
            case .connecting where !plan.tunnel.isEmpty: "a TCP connection to the proxy \(plan.proxy)"
            case .connecting: "a TCP connection to \(plan.endpoint)"
            case .tunneling: "the answer of the proxy \(plan.proxy)"
            case .handshaking: "the TLS handshake with \(plan.endpoint)"
            case .settling: "the SETTINGS of \(plan.endpoint)"
            case .up, nil: "a connection"
            }
        return .connecting(stage: stage, seconds: seconds)
    }

    /// Why all rows wait for another attempt; nil when there are none.
    private func backOff() -> CampaignProgress.Waiting? {
        guard let flight = retries.first, !control.stopping else { return nil }
        guard flights[flight].lastStatus > 0 else { return .backingOff(cause: "requests without an answer") }
        let reason = flights[flight].lastReason.map { " \($0.text)" } ?? ""
        return .backingOff(cause: "\(flights[flight].lastStatus)\(reason)")
    }
}
