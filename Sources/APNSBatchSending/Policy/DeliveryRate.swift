/// How many requests a server took in the last second, to an eighth of it.
struct DeliveryRate: Equatable {
    private var marks: [Mark]
    private var next = 0

    private struct Mark: Equatable {
        var time: UInt64
        var good: UInt64
    }

    private static let parts = 9
    /// Nanoseconds.
    private static let part: UInt64 = 125_000_000

    init(start: UInt64) { marks = Array(repeating: Mark(time: start, good: 0), count: Self.parts) }

    /// - Parameter good: requests taken since the start.
    mutating func note(now: UInt64, good: UInt64) {
        guard now >= marks[(next + Self.parts - 1) % Self.parts].time + Self.part else { return }
        marks[next] = Mark(time: now, good: good)
        next = (next + 1) % Self.parts
    }

    /// Requests a second. Soon after the start it is less than that: what came at once says nothing of the rate.
    func rate(now: UInt64, good: UInt64) -> Double {
        let oldest = marks[next]
        return Double(good - oldest.good) / max(1, Double(now - min(oldest.time, now)) / 1e9)
    }
}
