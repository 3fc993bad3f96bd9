/// Whether the share of answers that ask for less is of our making.
///
/// An overloaded server takes what it can and refuses the rest: half as many requests lower the share. A server of which a
/// part is ill refuses the same share of any number, and sending less to it only loses time. So each halving is a question,
/// and what it did not lower is borne from then on.
struct PushbackShare: Equatable {
    enum Verdict: Equatable { case less, wait, goOn }

    /// What was seen in one interval.
    struct Interval: Equatable {
        var since: UInt64
        var end: UInt64
        var answers: Int
        var pushbacks: Int
        /// Microseconds: the mean of the answers'.
        var latency: Double
        /// Less than now is not sent, whatever comes.
        var isLeast: Bool
    }

    /// What sending less did not lower.
    private var borne = 0.0
    /// The share that the last halving answered, while its effect is not known.
    private var halvedAt: Double?
    /// Intervals that began before then have answers to requests from before the halving.
    private var settledAt: UInt64 = 0

    private static let least = 0.05

    mutating func verdict(_ interval: Interval) -> Verdict {
        guard interval.since >= settledAt else { return .wait }
        let share = Double(interval.pushbacks) / Double(interval.answers)
        if let before = halvedAt, share > Self.between(before) { borne = share }
        halvedAt = nil
        if share < borne / 2 { borne = 0 }
        guard interval.pushbacks > 1, share >= limit else { return .goOn }
        guard !interval.isLeast else { return atLeast(share) }
        halvedAt = share
        settledAt = interval.end + UInt64(interval.latency * 1500)
        return .less
    }

    /// A share that so little sending leaves, and that is no overload, has other causes.
    private mutating func atLeast(_ share: Double) -> Verdict {
        guard share < 0.5 else { return .wait }
        borne = share
        return .goOn
    }

    private var limit: Double { borne == 0 ? Self.least : min(1.5 * borne + Self.least, (1 + borne) / 2) }

    /// In the middle between the share as it was and what an overloaded server would refuse of half as many.
    private static func between(_ share: Double) -> Double { (share + max(0, 2 * share - 1)) / 2 }
}
