import Testing

@testable import APNSBatchSimulator

@Suite("Time of an answer")
struct AnswerTimeTests {
    /// Returns the times of the answers to requests that arrived at `ticks`.
    private func times(_ script: SimulatorScript, _ ticks: [UInt64]) -> [UInt64] {
        var time = AnswerTime(script)
        return ticks.map { time.next(after: $0) }
    }

    @Test("Without latency and limit, an answer is due at the time of its request")
    func atOnce() {
        #expect(AnswerTime(SimulatorScript()).isAtOnce)
        #expect(times(SimulatorScript(), [5, 7]) == [5, 7])
    }

    @Test("A rate limit delays answers, and unused capacity is not saved up")
    func limited() {
        let script = SimulatorScript(answersPerSecond: 1000)
        #expect(!AnswerTime(script).isAtOnce)
        #expect(
            times(script, [10_000_000, 10_000_000, 10_000_000, 15_000_000, 15_000_000])
                == [10_000_000, 11_000_000, 12_000_000, 15_000_000, 16_000_000])
    }

    @Test("The latency is added after the rate limit and delays no other answer")
    func both() {
        let script = SimulatorScript(latency: .fixed(20), answersPerSecond: 1000)
        #expect(times(script, [10_000_000, 10_000_000]) == [30_000_000, 31_000_000])
    }
}
