/// Holds requests against a promise: in every interval of w seconds there are at most rate × w + burst of them.
///
/// A bucket that is emptied at the rate and that every request fills by one never holds more than `burst` exactly if the
/// promise holds in all intervals, however long or short.
package struct RateBound {
    private let perSecond: Double
    private let burst: Double
    private var level = 0.0
    private var last: UInt64?
    /// The largest number of requests by which any interval exceeded the promise so far; 0 or less if none did.
    package private(set) var excess = -Double.infinity

    /// - Parameter burst: the number of requests that may come at once; nil for those of ten milliseconds, at least one.
    package init(perSecond: Double, burst: Double? = nil) {
        self.perSecond = perSecond
        self.burst = burst ?? max(1, perSecond / 100)
    }

    /// - Parameter time: in nanoseconds, not before that of the previous call.
    package mutating func note(_ requests: Int, at time: UInt64) {
        level = max(0, level - Double(time - (last ?? time)) * perSecond / 1e9) + Double(requests)
        last = time
        if requests > 0 { excess = max(excess, level - burst) }
    }

    /// Whether the promise was kept, apart from the rounding of this calculation.
    package var isKept: Bool { excess < 1e-3 }
}
