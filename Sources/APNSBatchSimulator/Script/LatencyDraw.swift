import APNSBatchBasics
import Glibc

/// Draws the times by which answers are delayed. The same seed produces the same times in the same order.
struct LatencyDraw {
    let latency: SimulatorLatency
    private var random: SplitMix64

    init(_ latency: SimulatorLatency, seed: UInt64) {
        self.latency = latency
        random = SplitMix64(seed: seed ^ 0x6C61_7465_6E63_7921)
    }

    /// Returns the next time, in nanoseconds.
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

    /// Returns a number of the standard normal distribution (Box and Muller).
    private mutating func normal() -> Double {
        let radius = sqrt(-2 * log(1 - random.unit()))
        return radius * cos(2 * .pi * random.unit())
    }
}

/// Computes the time at which an answer is sent, from the rate of answers per second and the latency.
struct AnswerTime {
    private var latency: LatencyDraw
    /// The time between two answers, in nanoseconds.
    private let gap: UInt64
    /// The earliest time of the answer to the next request, without its latency.
    private var turn: UInt64 = 0

    init(_ script: SimulatorScript) {
        latency = LatencyDraw(script.latency, seed: script.seed)
        gap = script.answersPerSecond > 0 ? 1_000_000_000 / UInt64(script.answersPerSecond) : 0
    }

    /// Whether answers are sent immediately.
    var isAtOnce: Bool { gap == 0 && latency.latency == .none }

    /// Returns the time of the answer to a request that was received at `tick`, in nanoseconds.
    mutating func next(after tick: UInt64) -> UInt64 {
        turn = max(turn + gap, tick)
        return turn + latency.next()
    }
}
