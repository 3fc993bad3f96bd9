/// Decides which of many messages of the same kind is a warning: the first, and again one after ten minutes. A pure value.
struct RepeatedNotices: Equatable {
    private var saidAt: [String: UInt64] = [:]

    /// In nanoseconds.
    private static let pause: UInt64 = 600_000_000_000
    /// The number of kinds that are remembered; a server can send any reason.
    private static let most = 64

    /// Returns whether to warn.
    mutating func note(_ key: String, now: UInt64) -> Bool {
        if let time = saidAt[key], now < time + Self.pause { return false }
        if saidAt.count >= Self.most { saidAt.removeAll() }
        saidAt[key] = now
        return true
    }
}
