/// A rate of requests that rises in a straight line: the generic cell rate algorithm of ``RequestSpacing``, in which the
/// spacing of requests is the time in which the line adds up to one.
///
/// As a pure value it is exact to about a nanosecond, since a ramp is short beside the life of a system.
struct RateRamp: Equatable {
    /// When the ramp began, in nanoseconds of the monotonic clock.
    private let began: UInt64
    /// The length of the ramp in seconds, more than 0.
    private let time: Double
    /// The rates at its beginning and at its end, in requests per second.
    private let first: Double
    private let last: Double

    /// The share of the full rate with which a ramp begins, and the least rate.
    private static let firstShare = 0.01
    private static let firstLeast = 1.0

    /// - Parameter nanoseconds: the length of the ramp.
    init(to full: RequestSpacing, began: UInt64, nanoseconds: UInt64) {
        self.began = began
        time = Double(nanoseconds) / 1e9
        last = full.perSecond
        first = min(last, max(Self.firstLeast, Self.firstShare * last))
    }

    /// The rate at a time, in requests per second.
    func perSecond(now: UInt64) -> Double { rate(at: seconds(now)) }

    /// Returns how many requests may be sent now, at most `most`.
    func allowed(_ most: Int, due: UInt64, now: UInt64) -> Int {
        let (from, until) = (seconds(max(RequestSpacing.time(ofDue: due), now)), seconds(now) + tolerance(now))
        guard from <= until, most > 0 else { return 0 }
        return Int(min(Double(most) - 1, (sum(to: until) - sum(to: from)).rounded(.down))) + 1
    }

    /// Returns the due time after this many requests that are sent now.
    func due(after requests: Int, due: UInt64, now: UInt64) -> UInt64 {
        guard requests > 0 else { return due }
        let from = seconds(max(RequestSpacing.time(ofDue: due), now))
        let until = time(ofSum: sum(to: from) + Double(requests))
        return RequestSpacing.due(at: began + UInt64((until * 1e9).rounded(.up)))
    }

    /// Returns the time in nanoseconds from which on the next request may be sent.
    func next(due: UInt64, now: UInt64) -> UInt64 {
        let early = UInt64(tolerance(now) * 1e9)
        let time = RequestSpacing.time(ofDue: due)
        return time - min(time, early)
    }

    private func seconds(_ time: UInt64) -> Double { Double(time - min(time, began)) / 1e9 }

    private func rate(at seconds: Double) -> Double { first + (last - first) * min(1, seconds / time) }

    /// As with an even spacing: the requests of ``RequestSpacing/burst`` at the rate of this moment, at least one.
    private func tolerance(_ now: UInt64) -> Double {
        max(0, Double(RequestSpacing.burst) / 1e9 - 1 / perSecond(now: now))
    }

    /// The number of requests from the beginning of the ramp to a time.
    private func sum(to seconds: Double) -> Double {
        let inside = min(seconds, time)
        return (first + rate(at: inside)) / 2 * inside + last * max(0, seconds - time)
    }

    /// The time at which the sum reaches a number.
    private func time(ofSum sum: Double) -> Double {
        let whole = self.sum(to: time)
        guard sum < whole else { return time + (sum - whole) / last }
        let slope = (last - first) / time
        guard slope > 0 else { return sum / last }
        // The form of the solution that does not subtract nearly equal numbers.
        return 2 * sum / (first + (first * first + 2 * slope * sum).squareRoot())
    }
}
