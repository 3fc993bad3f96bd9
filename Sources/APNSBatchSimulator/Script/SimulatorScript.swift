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
/// **Which token gets which rule.** Take FNV-1a of 64 bits over the eight bytes of `seed`, least significant first, and
/// then over the device token's hexadecimal digits in lower case, as ASCII; fold the upper half onto the lower and multiply,
/// so that tokens in sequence are spread as random ones are. The upper 53 bits, divided by 2^53, are a number in [0, 1).
/// The rules take slices of [0, 1) one behind the other: the first one [0, s1), the second one [s1, s1 + s2) and so on, the
/// sums made in double precision from left to right. What is left is accepted. In Python:
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
/// A rule with `times` holds for the first so many requests of a token that pass every check; later ones are accepted.
///
/// Broadcasts go by the same rules, with the channel's id, as it is written, in the place of the token.
package struct SimulatorScript: Sendable, Equatable {
    /// The seed that decides which tokens get a rule, and the latencies.
    package var seed: UInt64
    package var rules: [SimulatorRule]
    package var latency: SimulatorLatency
    /// How many requests are answered in a second, over all connections: requests wait for their turn, and then for the
    /// latency. 0: as many as come.
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

    /// The answer for the first request of a well-formed device token that passes every check; nil when it is
    /// accepted. Complexity: the length of the token plus the number of rules.
    package func answer(forToken token: String) -> SimulatorRule? {
        let slices = ScriptSlices(self)
        let rule = unsafe Array(token.lowercased().utf8).withUnsafeBytes { unsafe slices.rule(for: $0, earlier: 0) }
        return rule < 0 ? nil : rules[rule]
    }
}

/// A share of the tokens and its answer.
package struct SimulatorRule: Decodable, Sendable, Equatable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case share, status, reason, timestamp, times
        case retryAfter = "retry_after"
    }

    /// The share of all tokens, 0 to 1.
    package var share: Double
    /// The HTTP status, 200 to 599.
    package var status: Int
    /// The `reason` of the body; without one the body is empty.
    package var reason: String?
    /// The `timestamp` of the body, in milliseconds since the epoch; for 410 only. Without one a 410 carries the time
    /// at which the simulator started.
    package var timestamp: Int64?
    /// The number of requests of a token for which the rule holds; nil for all.
    package var times: Int?
    /// The value of `retry-after` in seconds; without it the answer has none.
    package var retryAfter: Int?

    package init(
        share: Double, status: Int, reason: String? = nil, timestamp: Int64? = nil, times: Int? = nil,
        retryAfter: Int? = nil
    ) {
        (self.share, self.status, self.reason) = (share, status, reason)
        (self.timestamp, self.times, self.retryAfter) = (timestamp, times, retryAfter)
    }
}

/// How long answers are held back, in milliseconds of at most an hour. The loop's clock ticks in milliseconds: an
/// answer leaves up to one later than drawn.
package enum SimulatorLatency: Sendable, Equatable {
    /// Answers leave immediately.
    case none
    /// All answers are delayed by the same time.
    case fixed(Double)
    case uniform(minimum: Double, maximum: Double)
    /// An exponential distribution, limited to `maximum` if given.
    case exponential(median: Double, maximum: Double?)
    /// `sigma` is the standard deviation of the logarithm; 0.5 puts one answer in a hundred above 3.2 medians. Cut at
    /// `maximum` where given.
    case lognormal(median: Double, sigma: Double, maximum: Double?)
}
