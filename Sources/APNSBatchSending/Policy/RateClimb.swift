/// How the rate of requests rises while little is refused.
///
/// From just below the rate that the server showed it rises by a fiftieth with each interval, and in steps that double once
/// it is well past it. A rate that shows itself again is kept for a while before more is tried, longer each time, so that a
/// steady server has few requests to refuse. While no rate is known, it is searched for by doubling.
struct RateClimb: Equatable {
    /// Requests a second that the server took when it last refused a part; nil while that is searched for.
    private(set) var known: Double?
    private var step = RateClimb.doubling
    /// For how many intervals the known rate is kept before more is tried, and how many of these are left.
    private var calm = 0
    private var holds = 0

    private static let doubling = 1.0
    private static let stepLeast = 0.02
    private static let stepAgain = 0.1
    /// The step of a search that knows that the rate was exceeded by far.
    static let carefulStep = 0.25
    private static let calmMost = 16
    /// So far beneath the known rate it begins, and so far above it the steps begin to double.
    private static let below = 0.98
    private static let wellPast = 1.1
    /// Two rates that differ by no more are the same.
    private static let same = 0.1

    mutating func search(step: Double = RateClimb.doubling) {
        self = RateClimb()
        self.step = step
    }

    /// The server showed its rate. Gives the rate from which to go on.
    ///
    /// - Parameter mayHold: false where a share is refused at any rate, so that it is less clear what the rate is.
    mutating func find(_ rate: Double, mayHold: Bool) -> Double {
        let isSame = known.map { abs($0 - rate) <= Self.same * $0 } ?? false
        calm = isSame && mayHold ? min(Self.calmMost, max(1, 2 * calm)) : 0
        holds = calm
        (known, step) = (rate, Self.stepLeast)
        return Self.below * rate
    }

    /// The rate was lowered for nothing.
    mutating func riseAgain(from rate: Double) { (known, step, calm, holds) = (rate, Self.stepAgain, 0, 0) }

    /// The rate after an interval in which all of it was used.
    mutating func next(after rate: Double) -> Double {
        guard holds == 0 else {
            holds -= 1
            return rate
        }
        let next = rate * (1 + step)
        if let known, calm == 0 || rate > Self.wellPast * known { step = min(Self.doubling, 2 * step) }
        if step == Self.doubling { known = nil }
        return next
    }
}
