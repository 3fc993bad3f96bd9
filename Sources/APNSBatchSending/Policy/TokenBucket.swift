/// Spaces requests: tokens come in at a rate, and each request takes one.
struct TokenBucket: Equatable {
    private var tokens = 0.0
    private var filledAt: UInt64 = 0
    /// A request had to wait for its token, since this was last set to false.
    var wasEmpty = false

    // Seconds. What was not sent within that time is not made up for, for a server may take no bursts.
    private static let depth = 0.005
    /// But when nobody could look for a longer while, as much as came in meanwhile may be sent at once, up to this.
    private static let catchUp = 0.02

    /// The tokens that there are now.
    mutating func fill(rate: Double, now: UInt64) -> Int {
        let gap = Double(now - min(filledAt, now)) / 1e9
        tokens = min(tokens + rate * gap, max(1, rate * max(Self.depth, min(gap, Self.catchUp))))
        filledAt = max(filledAt, now)
        if tokens < 1 { wasEmpty = true }
        return Int(tokens)
    }

    /// - Parameter requests: may be more than there were tokens: several lanes share them.
    mutating func take(_ requests: Int) {
        tokens -= Double(requests)
        if tokens < 1 { wasEmpty = true }
    }

    mutating func empty(now: UInt64) {
        tokens = min(tokens, 0)
        filledAt = now
    }
}
