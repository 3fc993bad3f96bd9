/// Determines how the rate of requests rises while few requests are refused.
///
/// The rate starts just below the known rate of the server and rises by a fiftieth per interval, in steps that double once
/// it is well above the known rate. If the server shows the same rate again, that rate is kept for some intervals before the
/// next rise, for more intervals each time, so that a server with a constant rate refuses few requests. While no rate is
/// known, it is searched for by doubling.
struct RateClimb: Equatable {
    /// The number of requests per second that the server accepted when it last refused a part; nil while it is searched for.
    private(set) var known: Double?
    private var step = RateClimb.doubling
    /// The number of intervals for which the known rate is kept, and how many of these are left.
    private var calm = 0
    private var holds = 0

    private static let doubling = 1.0
    private static let stepLeast = 0.02
    private static let stepAgain = 0.1
    /// The step of a search after the rate was exceeded by far.
    static let carefulStep = 0.25
    private static let calmMost = 16
    /// The factors of the known rate at which the rise begins, and from which on the steps double.
    private static let below = 0.98
    private static let wellPast = 1.1
    /// The relative difference up to which two rates are considered the same.
    private static let same = 0.1

    mutating func search(step: Double = RateClimb.doubling) {
        self = RateClimb()
        self.step = step
    }

    /// Notes the rate that the server showed, and returns the rate to continue with.
    ///
    /// - Parameter mayHold: False if a share is refused at any rate, so that the server's rate is less certain.
    mutating func find(_ rate: Double, mayHold: Bool) -> Double {
        let isSame = known.map { abs($0 - rate) <= Self.same * $0 } ?? false
        calm = isSame && mayHold ? min(Self.calmMost, max(1, 2 * calm)) : 0
        holds = calm
        (known, step) = (rate, Self.stepLeast)
        return Self.below * rate
    }

    /// Starts again from this rate, after lowering it did not help.
    mutating func riseAgain(from rate: Double) { (known, step, calm, holds) = (rate, Self.stepAgain, 0, 0) }

    /// Returns the rate after an interval in which all of it was used.
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
