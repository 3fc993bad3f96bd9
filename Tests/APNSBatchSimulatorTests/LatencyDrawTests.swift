import Testing

@testable import APNSBatchSimulator

@Suite("Latency")
struct LatencyDrawTests {
    static func sample(_ latency: SimulatorLatency, seed: UInt64 = 1, count: Int = 20_001) -> [Double] {
        var draw = LatencyDraw(latency, seed: seed)
        return (0..<count).map { _ in Double(draw.next()) / 1_000_000 }.sorted()
    }

    @Test(
        "The latency has the requested median",
        arguments: [
            (SimulatorLatency.fixed(7), 7.0), (.uniform(minimum: 10, maximum: 30), 20),
            (.exponential(median: 20, maximum: nil), 20), (.lognormal(median: 20, sigma: 0.5, maximum: nil), 20),
        ])
    func median(_ latency: SimulatorLatency, _ expected: Double) {
        let sample = Self.sample(latency)
        #expect(abs(sample[sample.count / 2] - expected) < 0.05 * expected)
    }

    @Test("The latency spreads as its distribution says")
    func spread() {
        let uniform = Self.sample(.uniform(minimum: 10, maximum: 30))
        #expect(uniform.first! >= 10 && uniform.first! < 10.1 && uniform.last! < 30 && uniform.last! > 29.9)
        // Nine tenths of an exponential distribution are below log2(10) = 3.32 medians.
        #expect(abs(Self.sample(.exponential(median: 20, maximum: nil))[18_000] - 66.4) < 4)
        // The 84th percentile of a normal distribution is one standard deviation above the mean: exp(0.5) = 1.65.
        #expect(abs(Self.sample(.lognormal(median: 20, sigma: 0.5, maximum: nil))[16_826] - 33) < 1.5)
    }

    @Test("The latency is limited to its maximum and to an hour")
    func cut() {
        #expect(Self.sample(.exponential(median: 20, maximum: 25)).last == 25)
        #expect(Self.sample(.lognormal(median: 20, sigma: 10, maximum: nil)).last == 3_600_000)
    }

    @Test("The same seed gives the same latencies, and another seed gives others")
    func seeded() {
        let latency = SimulatorLatency.exponential(median: 20, maximum: nil)
        #expect(Self.sample(latency, seed: 3, count: 100) == Self.sample(latency, seed: 3, count: 100))
        #expect(Self.sample(latency, seed: 3, count: 100) != Self.sample(latency, seed: 4, count: 100))
    }
}
