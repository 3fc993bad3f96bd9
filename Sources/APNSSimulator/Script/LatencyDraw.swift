import APNSBatchBasics
import Glibc

/// Draws the times for which answers are held back. The same seed gives the same times in the same order.
struct LatencyDraw {
    private let latency: SimulatorLatency
    private var random: SplitMix64

    init(_ latency: SimulatorLatency, seed: UInt64) {
        self.latency = latency
        random = SplitMix64(seed: seed ^ 0x6C61_7465_6E63_7921)
    }

    /// Whether answers go at once.
    var isNone: Bool { latency == .none }

    /// The next time, in nanoseconds.
    mutating func next() -> UInt64 {
        UInt64(min(max(milliseconds(), 0), SimulatorLatency.longest) * 1_000_000)
    }

    private mutating func milliseconds() -> Double {
        switch latency {
        case .none: return 0
        case .fixed(let time): return time
        case .uniform(let minimum, let maximum): return minimum + (maximum - minimum) * random.unit()
        case .exponential(let median, let maximum):
            return min(-log(1 - random.unit()) * median / log(2), maximum ?? SimulatorLatency.longest)
        case .lognormal(let median, let sigma, let maximum):
            return min(median * exp(sigma * normal()), maximum ?? SimulatorLatency.longest)
        }
    }

    /// A number of the standard normal distribution (Box and Muller).
    private mutating func normal() -> Double {
        let radius = sqrt(-2 * log(1 - random.unit()))
        return radius * cos(2 * .pi * random.unit())
    }
}
