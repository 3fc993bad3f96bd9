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

    @Test func `a lane does not wait at the end for batches that the program keeps`() {
        let stream = ResultStream(batches: 1, campaign: (1, 2), columns: 0)
        let exchange = OutcomeExchange(lanes: 1, each: 1, entries: 8, results: stream)
        let held = (0..<2).map { _ in exchange.freeBatch() }
        guard case .nothingYet = exchange.free.tryPop() else {
            Issue.record("there are two batches")
            return
        }
        exchange.waitNoLonger()
        guard case .closed = exchange.free.tryPop() else {
            Issue.record("a lane would wait")
            return
        }
        #expect(exchange.freeBatch().room == 8)
        // What comes back is not needed any more, and whoever brings it does not wait either.
        for batch in held { exchange.release(batch) }
    }
}
