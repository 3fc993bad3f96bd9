import APNSBatchBasics

/// The answers of a simulator to requests that pass every check.
///
/// ```yaml
/// seed: 7
/// rules:
///   - { share: 0.02, status: 410, reason: Unregistered, timestamp: 1700000000000 }
///   - { share: 0.01, status: 503, reason: ServiceUnavailable, times: 1, retry_after: 2 }
/// latency: { distribution: lognormal, median_ms: 20, sigma: 0.5 }
/// answers_per_second: 20000
/// rate_limit: { per_second: 2000, burst: 200, status: 429, reason: TooManyRequests, retry_after: 3 }
/// ```
///
/// **The rule for a token.** Compute FNV-1a of 64 bits over the eight bytes of `seed`, least significant first, and
/// then over the device token's hexadecimal digits in lower case, as ASCII. Combine the upper half with the lower one
/// and multiply, so that consecutive tokens are distributed like random ones. The upper 53 bits, divided by 2^53, are a
/// number in [0, 1). The rules take consecutive slices of [0, 1): the first one [0, s1), the second one [s1, s1 + s2)
/// and so on. The sums are computed in double precision from left to right. The rest is accepted. In Python:
///
///     def rule(script, token):
///         h = 0xCBF29CE484222325
///         for byte in script["seed"].to_bytes(8, "little") + token.lower().encode():
///             h = ((h ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
///         h = ((h ^ h >> 33) * 0xFF51AFD7ED558CCD) & 0xFFFFFFFFFFFFFFFF
///         place, bound = (h >> 11) / 2**53, 0.0
///         for rule in script["rules"]:
///             bound += rule["share"]
///             if place < bound:
///                 return rule
///         return None
///
/// A rule with `times` applies to the first requests of a token that pass every check. Later ones are accepted.
///
/// The same rules apply to broadcasts. The channel id as it is written is used instead of the token.
package struct SimulatorScript: Sendable, Equatable {
    /// The seed that decides which tokens get a rule, and the latencies.
    package var seed: UInt64
    package var rules: [SimulatorRule]
    package var latency: SimulatorLatency
    /// The number of requests that are answered per second over all connections. Requests wait for this limit first,
    /// and then for the latency. 0 means no limit.
    package var answersPerSecond: Int
    /// The rate limit and the answer to requests above it; nil for no limit.
    package var rateLimit: RateLimit?
    package var faults: [SimulatorFault]

    package init(
        seed: UInt64 = 0, rules: [SimulatorRule] = [], latency: SimulatorLatency = .none, answersPerSecond: Int = 0,
        rateLimit: RateLimit? = nil, faults: [SimulatorFault] = []
    ) {
        (self.seed, self.rules, self.latency) = (seed, rules, latency)
        (self.answersPerSecond, self.rateLimit, self.faults) = (answersPerSecond, rateLimit, faults)
    }

    /// Returns the answer to the first request of a well-formed device token that passes every check, or nil if it is
    /// accepted. Complexity: the length of the token plus the number of rules.
    package func answer(forToken token: String) -> SimulatorRule? {
        let slices = ScriptSlices(self)
        let rule = unsafe Array(token.lowercased().utf8).withUnsafeBytes { unsafe slices.rule(for: $0, earlier: 0) }
        return rule < 0 ? nil : rules[rule]
    }
}

/// A share of the tokens, and the answer to their requests.
package struct SimulatorRule: Decodable, Sendable, Hashable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case share, status, reason, timestamp, times
        case retryAfter = "retry_after"
    }

    /// The share of all tokens, 0 to 1.
    package var share: Double
    /// The HTTP status, 200 to 599.
    package var status: Int
    /// The `reason` in the body; nil for an empty body.
    package var reason: String?
    /// The `timestamp` in the body of a 410, in milliseconds since the epoch; nil for the time at which the simulator
    /// started.
    package var timestamp: Int64?
    /// The number of requests of a token to which the rule applies; nil for all.
    package var times: Int?
    /// The value of `retry-after` in seconds; nil for none.
    package var retryAfter: Int?

    package init(
        share: Double, status: Int, reason: String? = nil, timestamp: Int64? = nil, times: Int? = nil,
        retryAfter: Int? = nil
    ) {
        (self.share, self.status, self.reason) = (share, status, reason)
        (self.timestamp, self.times, self.retryAfter) = (timestamp, times, retryAfter)
    }
}

/// The delay of answers in milliseconds, at most an hour. The loop's clock has a resolution of a millisecond, so an
/// answer may be sent up to one millisecond late.
package enum SimulatorLatency: Sendable, Equatable {
    /// Answers are sent immediately.
    case none
    /// All answers are delayed by the same time.
    case fixed(Double)
    case uniform(minimum: Double, maximum: Double)
    /// An exponential distribution, limited to `maximum` if given.
    case exponential(median: Double, maximum: Double?)
    /// A lognormal distribution, limited to `maximum` if given. `sigma` is the standard deviation of the logarithm;
    /// with 0.5, one answer in a hundred is above 3.2 medians.
    case lognormal(median: Double, sigma: Double, maximum: Double?)
}
