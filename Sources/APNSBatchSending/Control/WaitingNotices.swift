import APNSBatchModel

/// Decides when to log that a run waits: once for each reason, however many lanes and providers wait for it, and again only
/// after the reason was absent for a minute. A pure value.
struct WaitingNotices: Equatable {
    private struct Spell: Equatable {
        var since: UInt64
        var seenAt: UInt64
        var isSaid = false
    }

    private var spells: [Kind: Spell] = [:]

    private enum Kind: Hashable { case resolving, connecting, unreachable, noStreams, noAnswer, backingOff }

    /// Notes that a lane waits for this reason. Returns whether to log it.
    mutating func note(_ waiting: CampaignProgress.Waiting, now: UInt64) -> Bool {
        guard let kind = Self.kind(waiting) else { return false }
        var spell = spells[kind] ?? Spell(since: now, seenAt: now)
        let pause = now - min(now, spell.seenAt)
        if pause > Self.continuity { spell.since = now }
        if pause > Self.memory { spell.isSaid = false }
        spell.seenAt = now
        let isDue = !spell.isSaid && now - min(now, spell.since) >= Self.quiet(kind)
        if isDue { spell.isSaid = true }
        spells[kind] = spell
        return isDue
    }

    /// Returns nil for a pause, which the operator has caused.
    private static func kind(_ waiting: CampaignProgress.Waiting) -> Kind? {
        switch waiting {
        case .paused: nil
        case .resolving: .resolving
        case .connecting: .connecting
        case .unreachable: .unreachable
        case .noStreams: .noStreams
        case .noAnswer: .noAnswer
        case .backingOff: .backingOff
        }
    }

    /// Returns how long a reason must last before it is logged, in nanoseconds: the last rows of a run may wait a moment for
    /// their next attempt, and a resolver may need one.
    private static func quiet(_ kind: Kind) -> UInt64 {
        kind == .backingOff || kind == .resolving ? 3_000_000_000 : 0
    }

    private static let continuity: UInt64 = 1_000_000_000
    private static let memory: UInt64 = 60_000_000_000
}
