/// The number of requests per second that are accepted over all connections. The others are refused. It is a token
/// bucket: capacity that is not used is kept for up to `burst` requests.
package struct RateLimit: Decodable, Sendable, Equatable {
    /// The number of requests accepted per second; 0 refuses all.
    package var perSecond: Int
    /// The number of requests that are accepted at once; nil for those of one second.
    package var burst: Int?
    package var status: Int
    package var reason: String?
    /// The value of `retry-after` in seconds; nil for none.
    package var retryAfter: Int?

    package init(perSecond: Int, burst: Int? = nil, status: Int, reason: String? = nil, retryAfter: Int? = nil) {
        (self.perSecond, self.burst) = (perSecond, burst)
        (self.status, self.reason, self.retryAfter) = (status, reason, retryAfter)
    }

    enum CodingKeys: String, CodingKey, CaseIterable {
        case burst, status, reason
        case perSecond = "per_second"
        case retryAfter = "retry_after"
    }

    /// The answer to requests that are refused.
    var rule: SimulatorRule { SimulatorRule(share: 0, status: status, reason: reason, retryAfter: retryAfter) }

    func fault() -> String? {
        guard (0...1_000_000_000).contains(perSecond) else {
            return "per_second: expected 0 to 1000000000, found \(perSecond)"
        }
        if let burst, !(1...1_000_000_000).contains(burst) { return "burst: expected 1 to 1000000000, found \(burst)" }
        guard status != 200 else { return "status: expected a status other than 200" }
        return rule.fault()
    }
}

/// The token bucket of a rate limit.
struct RateLimiter {
    var limit: RateLimit
    private let burst: Double
    private var tokens: Double
    private var filledAt: UInt64?

    init(_ limit: RateLimit) {
        self.limit = limit
        burst = Double(limit.burst ?? max(1, limit.perSecond))
        tokens = burst
    }

    /// Returns whether a request that was received at `tick`, in nanoseconds, exceeds the limit.
    mutating func refuses(at tick: UInt64) -> Bool {
        tokens = min(burst, tokens + Double(tick - (filledAt ?? tick)) / 1e9 * Double(limit.perSecond))
        filledAt = tick
        guard limit.perSecond > 0, tokens >= 1 else { return true }
        tokens -= 1
        return false
    }
}
