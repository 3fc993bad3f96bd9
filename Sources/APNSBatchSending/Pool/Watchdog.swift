/// Measures how long rows have waited since the last answer. The time in which rows only wait for their next attempt does
/// not count.
struct Watchdog: Equatable {
    enum Verdict: Equatable {
        case fine
        /// Every connection is to be replaced.
        case replace
        /// Replacing connections did not help.
        case giveUp
    }

    private(set) var answered: UInt64 = 0
    private(set) var waited: UInt64 = 0
    private var lookedAt: UInt64
    /// The number of replacements since the last answer.
    private var replaced: UInt64 = 0

    init(answered: UInt64 = 0, now: UInt64) { (self.answered, lookedAt) = (answered, now) }

    /// - Parameters:
    ///   - most: The waiting time after which the pool gives up, in nanoseconds.
    ///   - goesOn: Whether connections are replaced repeatedly instead of giving up.
    mutating func look(
        now: UInt64, answered: UInt64, isWaiting: Bool, patience: UInt64, most: UInt64, goesOn: Bool
    ) -> Verdict {
        if isWaiting { waited += ConnectionPool.seen(from: lookedAt, to: now) }
        lookedAt = now
        if answered != self.answered { self = Watchdog(answered: answered, now: now) }
        if waited >= most {
            guard goesOn else { return .giveUp }
            self = Watchdog(answered: answered, now: now)
        }
        guard waited >= patience * (replaced + 1) else { return .fine }
        replaced += 1
        return .replace
    }
}
