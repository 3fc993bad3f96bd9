import APNSBatchModel

/// When the log says that a run waits: once for each reason, however many lanes and providers have it, and again only when
/// it had passed for a minute. Pure.
struct WaitingNotices: Equatable {
    private struct Spell: Equatable {
        var since: UInt64
        var seenAt: UInt64
        var isSaid = false
    }

    private var spells: [Kind: Spell] = [:]

    private enum Kind: Hashable { case resolving, connecting, unreachable, noStreams, noAnswer, backingOff }

    /// Some lane waits for this reason; true when that is to be said.
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

    /// Who pauses a run is told so anyway.
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

    /// The last rows of a run may wait a moment for their next attempt, and a resolver may need one.
    private static func quiet(_ kind: Kind) -> UInt64 {
        kind == .backingOff || kind == .resolving ? 3_000_000_000 : 0
    }

    private static let continuity: UInt64 = 1_000_000_000
    private static let memory: UInt64 = 60_000_000_000
}
