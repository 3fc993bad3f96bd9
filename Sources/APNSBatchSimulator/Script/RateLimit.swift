/// How many requests a second are taken, over all connections; the others are refused. A bucket of tokens: what is not used
/// is kept, up to `burst` requests.
package struct RateLimit: Decodable, Sendable, Equatable {
    /// Requests taken in a second; 0 refuses all.
    package var perSecond: Int
    /// How many requests may come at once; a second's without it.
    package var burst: Int?
    package var status: Int
    package var reason: String?
    /// The value of `retry-after` in seconds; without it the answer has none.
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

    /// What those that are refused are answered.
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

/// The bucket of tokens behind a rate limit.
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

    /// Whether a request that came at `tick`, in nanoseconds, is one too many.
    mutating func refuses(at tick: UInt64) -> Bool {
        tokens = min(burst, tokens + Double(tick - (filledAt ?? tick)) / 1e9 * Double(limit.perSecond))
        filledAt = tick
        guard limit.perSecond > 0, tokens >= 1 else { return true }
        tokens -= 1
        return false
    }
}
