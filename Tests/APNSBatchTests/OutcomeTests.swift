import Testing

@testable import APNSBatchModel

@Suite("Outcomes") struct OutcomeTests {
    @Test("Every outcome has a counter of its own")
    func counters() {
        var counts: OutcomeCounts = [:]
        #expect(counts.counts.count == Outcome.allCases.count)
        for outcome in Outcome.allCases { counts[outcome] += 1 + UInt64(outcome.rawValue) }
        for outcome in Outcome.allCases { #expect(counts[outcome] == 1 + UInt64(outcome.rawValue)) }
    }
}
