import APNSBatchBasics

extension Campaign {
    /// A number of requests in a unit of time. It is kept as it was given, so that 1,019 a minute are exactly that.
    public struct Rate: Sendable, Equatable, CustomStringConvertible {
        /// The unit of time, by its length in nanoseconds.
        @nonexhaustive
        public enum Unit: UInt64, Sendable, CaseIterable {
            /// A second.
            case second = 1_000_000_000
            /// 60 seconds.
            case minute = 60_000_000_000
            /// 3,600 seconds.
            case hour = 3_600_000_000_000

            /// The unit as it is written in a campaign file: `s`, `min` or `h`.
            public var symbol: String {
                switch self {
                case .second: "s"
                case .minute: "min"
                case .hour: "h"
                }
            }
        }

        /// The number of requests, at least 1.
        public var requests: UInt64
        /// The time in which this many requests may be made.
        public var unit: Unit

        /// The largest number of requests in any unit.
        package static let requestsMax: UInt64 = 36_000_000_000

        /// Creates a rate of this many requests in each unit.
        public init(_ requests: UInt64, per unit: Unit) {
            self.requests = requests
            self.unit = unit
        }

        /// Parses a text such as `2000/s`, `120000/min` or `3000000/h`. Returns nil for any other text.
        public init?(_ text: String) {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2, let requests = UInt64(parts[0]), 1...Self.requestsMax ~= requests,
                let unit = Unit.allCases.first(where: { $0.symbol == parts[1] })
            else { return nil }
            self.init(requests, per: unit)
        }

        /// The number of requests per second.
        public var perSecond: Double { Double(requests) * 1e9 / Double(unit.rawValue) }

        /// The text that is parsed, such as `2000/s`.
        public var description: String { "\(requests)/\(unit.symbol)" }
    }

    /// The limits of requests per time. They apply to all lanes, providers and attempts together.
    ///
    /// Promise: in every interval of w seconds, at most rate × w + b requests are handed to connections, where b is the
    /// number of requests in ten milliseconds, at least 1. Requests that were possible and were not made are not made up for.
    /// Where APNs takes less (429, 503), less is sent.
    public struct RateLimit: Sendable, Equatable {
        /// The largest rate; nil for no limit.
        public var rate: Rate?
        /// The time, at most a day, in which the limit rises to ``rate``: in a straight line from a hundredth of
        /// it, at least one a second. It does so at the start, and again after each gap of more than a minute without
        /// requests, such as a pause or an outage. Zero for no ramp.
        public var ramp = Duration.zero
        /// The time, a second to 30 days, over which the rows are spread evenly: the limit is the number of rows
        /// left, divided by the time left since the start of the campaign, and never more than ``rate``. It is computed
        /// every second. The number of rows must be known, so the input must be a file. Nil to send as fast as possible.
        public var spread: Duration?

        /// Creates limits; without arguments there is none.
        public init(rate: Rate? = nil, ramp: Duration = .zero, spread: Duration? = nil) {
            (self.rate, self.ramp, self.spread) = (rate, ramp, spread)
        }

        /// Whether there is no limit at all.
        public var isNone: Bool { rate == nil && spread == nil }

        static let rampMost = 86_400
        static let spreadMost = 2_592_000

        /// Throws a `configuration` error if a value is out of its range, if there is a ramp without a rate, or if rows are
        /// to be spread whose number cannot be known.
        ///
        /// - Parameters:
        ///   - input: The name of the input.
        ///   - isFile: Whether it is a file, whose size shows how many rows it has.
        package func check(of input: String, isFile: Bool) throws(CampaignError) {
            if let rate, !(1...Rate.requestsMax).contains(rate.requests) {
                throw CampaignError(
                    .configuration, "rate: expected 1 to \(Rate.requestsMax) requests, found \(rate.requests)")
            }
            guard (.zero ... .seconds(Self.rampMost)).contains(ramp) else {
                throw CampaignError(
                    .configuration, "ramp: expected at most \(Self.rampMost) seconds, found \(ramp / .seconds(1))")
            }
            if ramp > .zero, rate == nil { throw CampaignError(.configuration, "ramp: needs a rate") }
            guard let spread else { return }
            guard (.seconds(1) ... .seconds(Self.spreadMost)).contains(spread) else {
                throw CampaignError(
                    .configuration,
                    "spread: expected 1 to \(Self.spreadMost) seconds, found \(spread / .seconds(1))")
            }
            guard isFile else {
                throw CampaignError(.configuration, "spread: the number of rows of \(input) is not known")
            }
        }
    }
}

extension Campaign.RateLimit {
    /// Returns how many of the given rows can be sent in the first `seconds` of a campaign, if every row takes one request and
    /// nothing else holds the campaign back.
    package func rowsAtMost(in seconds: Double, of rows: UInt64) -> Double {
        let rows = Double(rows)
        let spread = spread.map { rows * min(1, seconds / ($0 / .seconds(1))) } ?? rows
        guard let rate else { return spread }
        let rise = ramp / .seconds(1)
        // The mean of the ramp's beginning, a hundredth of the rate and at least one a second, and of what it has reached.
        let (full, ramped) = (rate.perSecond, min(seconds, rise))
        let first = min(full, max(1, full / 100))
        let mean = rise > 0 ? first + (full - first) * ramped / rise / 2 : full
        return min(spread, ramped * mean + full * (seconds - ramped))
    }

    /// Returns the seconds in which a campaign can send this many rows, under the same conditions; nil without a limit.
    package func secondsAtLeast(for rows: UInt64) -> Double? {
        guard !isNone else { return nil }
        func suffices(_ seconds: Double) -> Bool { rowsAtMost(in: seconds, of: rows) >= Double(rows) }
        var (least, most) = (0.0, 1.0)
        while !suffices(most), most < 1e12 { most *= 2 }
        // Halved until the difference is smaller than a millisecond.
        while most - least > 1e-3 {
            let middle = (least + most) / 2
            if suffices(middle) { most = middle } else { least = middle }
        }
        return most
    }
}

extension Campaign.RateLimit: CustomStringConvertible {
    /// The limits as they are written in a campaign file, such as `rate 2000/s, ramp 600s`; `no limit` without any.
    public var description: String {
        var parts: [String] = []
        if let rate { parts.append("rate \(rate)") }
        if ramp > .zero { parts.append("ramp \(Self.text(ramp))") }
        if let spread { parts.append("spread \(Self.text(spread))") }
        return parts.isEmpty ? "no limit" : parts.joined(separator: ", ")
    }

    private static func text(_ time: Duration) -> String {
        time == .seconds(time.seconds) ? "\(time.seconds)s" : "\(time / .seconds(1))s"
    }
}
