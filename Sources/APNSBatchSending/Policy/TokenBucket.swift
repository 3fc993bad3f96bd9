/// Limits the rate of requests: tokens are added at a rate, and each request takes one.
struct TokenBucket: Equatable {
    private var tokens = 0.0
    private var filledAt: UInt64 = 0
    /// Whether there was less than one token at some time since this was last set to false.
    var wasEmpty = false

    // The depth in seconds. Tokens that were not used within that time are lost, since a server may not accept bursts.
    private static let depth = 0.005
    /// The depth in seconds after a longer gap between two calls: at most the tokens of this time may be used at once.
    private static let catchUp = 0.02

    /// Adds the tokens for the time since the last call, and returns the number of tokens.
    mutating func fill(rate: Double, now: UInt64) -> Int {
        let gap = Double(now - min(filledAt, now)) / 1e9
        tokens = min(tokens + rate * gap, max(1, rate * max(Self.depth, min(gap, Self.catchUp))))
        filledAt = max(filledAt, now)
        if tokens < 1 { wasEmpty = true }
        return Int(tokens)
    }

    /// Removes tokens.
    ///
    /// - Parameter requests: May be more than there are tokens, since several lanes share them.
    mutating func take(_ requests: Int) {
        tokens -= Double(requests)
        if tokens < 1 { wasEmpty = true }
    }

    mutating func empty(now: UInt64) {
        tokens = min(tokens, 0)
        filledAt = now
    }
}
