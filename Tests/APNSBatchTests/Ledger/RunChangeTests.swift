import Testing

@testable import APNSBatchModel
@testable import APNSBatchRecords

/// Tests of the changes of operators in the ledger.
@Suite struct RunChangeTests {
    private typealias Sample = LedgerSample

    @Test func `changes are read back in order, over sessions, and a long text is cut`() throws {
        let long = String(repeating: "é", count: 2000)
        let history = try Sample.read(
            Sample.ledger([
                { encoder, _ in encoder.add(Sample.header) }, { encoder, _ in encoder.add(Sample.session(1)) },
                { encoder, _ in encoder.add(RunChange(time: 7, text: "rate 500/s")) },
                { encoder, _ in encoder.addEnd(isInputRead: false) },
                { encoder, _ in encoder.add(Sample.session(2)) },
                { encoder, _ in encoder.add(RunChange(time: .max, text: long)) },
                { encoder, _ in encoder.add(RunChange(time: 9, text: "")) },
            ]).bytes
        ).history
        #expect(history.changes.map(\.time) == [7, .max, 9])
        #expect(history.changes.map(\.text) == ["rate 500/s", String(repeating: "é", count: 512), ""])
        #expect(history.session?.number == 2)
    }

    @Test func `a change before any session is damage`() throws {
        #expect(throws: LedgerReader.Failure.self) {
            try Sample.read(
                Sample.ledger([
                    { encoder, _ in encoder.add(Sample.header) },
                    { encoder, _ in encoder.add(RunChange(time: 7, text: "paused")) },
                ]).bytes)
        }
    }
}
