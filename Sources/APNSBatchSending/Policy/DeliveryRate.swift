/// The number of requests that a server accepted in the last second, with a resolution of an eighth of a second.
struct DeliveryRate: Equatable {
    private var marks: [Mark]
    private var next = 0

    private struct Mark: Equatable {
        var time: UInt64
        var good: UInt64
    }

    private static let parts = 9
    /// The length of a part, in nanoseconds.
    private static let part: UInt64 = 125_000_000

    init(start: UInt64) { marks = Array(repeating: Mark(time: start, good: 0), count: Self.parts) }

    /// - Parameter good: The number of accepted requests since the start.
    mutating func note(now: UInt64, good: UInt64) {
        guard now >= marks[(next + Self.parts - 1) % Self.parts].time + Self.part else { return }
        marks[next] = Mark(time: now, good: good)
        next = (next + 1) % Self.parts
    }

    /// Returns the rate in requests per second. In the first second it is too low, so that requests answered at once do not
    /// count as a high rate.
    func rate(now: UInt64, good: UInt64) -> Double {
        let oldest = marks[next]
        return Double(good - oldest.good) / max(1, Double(now - min(oldest.time, now)) / 1e9)
    }
}
