extension ConnectionPool {
    /// Why rows wait, as far as connections are to blame; nil while one of them serves, or a first one is just coming up.
    func waiting(now: UInt64) -> CampaignProgress.Waiting? {
        guard hasWork else { return nil }
        guard up > 0 else { return slots.contains { $0.failures > 0 } ? unreachable : connecting(now: now) }
        if streams == 0 { return badFor < Self.sayAfter ? nil : .noStreams(secondsLeft: patienceLeft) }
        return watchdog.waited < Self.sayAfter ? nil : .noAnswer(seconds: Int(watchdog.waited / 1_000_000_000))
    }

    private var unreachable: CampaignProgress.Waiting {
        .unreachable(cause: lastFailure, secondsLeft: patienceLeft)
    }

    private func connecting(now: UInt64) -> CampaignProgress.Waiting? {
        guard let first = members.first(where: { $0.phase == .connecting && $0.isOpen }) else { return nil }
        let waited = now - first.openedAt
        return waited < Self.sayAfter ? nil : .connecting(stage: "a connection", seconds: Int(waited / 1_000_000_000))
    }

    private var patienceLeft: Int {
        badFor < patience ? Int((patience - badFor + 999_999_999) / 1_000_000_000) : 0
    }

    /// What takes less is nothing to speak of. In nanoseconds.
    private static let sayAfter: UInt64 = 3_000_000_000
}
