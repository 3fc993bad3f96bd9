import Testing

@testable import APNSBatchSending

/// Lanes share values that they tell the time, each from its own clock: what one says may lie before what another one said. See
/// ``ProviderHealth``.
@Suite("Clocks of several lanes")
struct LaneClockTests {
    private static let second: UInt64 = 1_000_000_000

    /// - Parameter behind: How far the clock of the second lane is behind that of the first one, in nanoseconds.
    @Test(
        "A clock that is behind another lane's is no fault, whatever state the provider is in",
        arguments: [1, 5_000_000, 90 * second])
    func behind(_ behind: UInt64) {
        for limits in [Outage.Limits.campaign(patience: 30 * Self.second), .sender(patience: 5 * Self.second)] {
            var health = ProviderHealth(limits)
            var sums = AnswerSums()
            var phases: Set<String> = []
            for step in 0..<20_000 as Range<UInt64> {
                // Ten seconds of good answers, then twenty of bad ones, and so on; nobody answers in each fifth spell.
                let now = 100 * Self.second + step * 5_000_000
                let (isBad, isSilent) = (step / 2000 % 3 > 0, step / 2000 % 5 == 4)
                if isSilent {
                    sums.silent += 1
                } else {
                    sums.answered += 1
                    if isBad {
                        sums.troubled += 1
                        sums.troubledFirst += 1
                        sums.fresh += 1
                    }
                }
                for time in [now, now - behind] {
                    _ = health.look(now: time, sums: sums, isStarting: step < 10)
                    let allowed = health.allowance(now: time)
                    if allowed > 0 { health.didSend(1, now: time, jitter: 0.5) }
                }
                phases.insert("\(health.outage.phase)".prefix { $0 != "(" }.description)
            }
            #expect(phases == ["closed", "suspected", "open", "recovering"])
        }
    }
}
