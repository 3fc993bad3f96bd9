import APNSBatchNotification
import Testing

@testable import APNSBatchModel
@testable import APNSBatchRecords

@Suite("Reopened rows") struct ReopenedRowsTests {
    private typealias Sample = LedgerSample

    /// Returns the history of a session that ended in order with some rows unavailable, and of the next one, which
    /// reopened them.
    private static func history(rows: Int, unavailable: [UInt64], reopens: Bool = true) throws -> LedgerHistory {
        let ends = (1...UInt64(rows)).map { row in
            unavailable.contains(row)
                ? Sample.End(row: row, outcome: .unavailable, status: 503, attempts: 5, reason: "ServiceUnavailable")
                : Sample.End(row: row, outcome: .accepted, status: 200)
        }
        var records: [(inout LedgerEncoder, UInt64) -> Void] = [
            { encoder, _ in encoder.add(Sample.header) }, { encoder, _ in encoder.add(Sample.session(1)) },
            { encoder, _ in encoder.add(Sample.range(1, rows: rows)) },
            { encoder, _ in encoder.add(Sample.batch(ends)) },
            { encoder, _ in encoder.addEnd(isInputRead: true) },
        ]
        if reopens { records.append { encoder, _ in encoder.addReopened(.unavailable) } }
        return try Sample.read(Sample.ledger(records).bytes).history
    }

    @Test(
        "Reopened rows have no outcome, and the others keep theirs",
        arguments: [(64, [1, 64]), (65, [65]), (130, [2, 66, 130]), (3, [1, 2, 3]), (200, [100])] as [(Int, [UInt64])])
    func reopens(rows: Int, unavailable: [UInt64]) throws {
        let history = try Self.history(rows: rows, unavailable: unavailable)
        let range = history.ranges[0]
        #expect(range.remaining == unavailable.count)
        for row in 1...UInt64(rows) {
            #expect(range.isDone(Int(row) - 1) == !unavailable.contains(row), "row \(row)")
            #expect(range.attempts(ofReopened: Int(row) - 1) == (unavailable.contains(row) ? 5 : 0), "row \(row)")
        }
        let accepted = UInt64(rows - unavailable.count)
        #expect(history.tally == Tally(outcomes: [.accepted: accepted], attempts: accepted))
        #expect(history.reasons == OutcomeReasons())
    }

    @Test("Reopened rows are counted with their reasons until they are reopened")
    func before() throws {
        let history = try Self.history(rows: 10, unavailable: [3, 4], reopens: false)
        #expect(history.tally == Tally(outcomes: [.accepted: 8, .unavailable: 2], attempts: 18))
        #expect(history.reasons[.unavailable] == [.known(.serviceUnavailable): 2] && history.reasons[.rejected].isEmpty)
        #expect(history.ranges[0].remaining == 0)
    }

    @Test("A reopened row can end again once only")
    func again() throws {
        var history = try Self.history(rows: 5, unavailable: [2])
        try history.take(Sample.session(2))
        try history.take(Sample.range(1, rows: 5))
        let entry = LedgerEntry(row: 2, attempts: 1, outcome: .unavailable, code: 503)
        try history.take(entry) { nil }
        #expect(history.ranges[0].remaining == 0 && history.tally[.unavailable] == 1)
        #expect(throws: LedgerHistory.Fault.secondOutcome(2)) { try history.take(entry) { nil } }
        try history.takeReopened()
        #expect(history.ranges[0].remaining == 1 && history.tally[.unavailable] == 0)
    }

    @Test("A record that reopens another outcome is invalid")
    func otherOutcome() throws {
        let bytes = Sample.ledger([
            { encoder, _ in encoder.add(Sample.header) }, { encoder, _ in encoder.add(Sample.session(1)) },
            { encoder, _ in encoder.addReopened(.accepted) },
        ])
        #expect(throws: LedgerReader.Failure.damaged(at: UInt64(bytes.starts[2]))) { try Sample.read(bytes.bytes) }
    }

    /// APNs answered 503 to the second of four rows. The lane had taken three of them when the process was killed.
    @Test("Reopened rows were answered and do not count as possibly sent", arguments: [true, false])
    func answered(reopening: Bool) throws {
        let files = MemoryFiles()
        files.ledger.bytes = Sample.ledger(
            rows: 4,
            [
                .init(row: 1, outcome: .accepted, status: 200),
                .init(row: 2, outcome: .unavailable, status: 503, attempts: 5),
            ])
        files.lines.bytes = ResultLines.header(Sample.header.resultColumns)
        let handOvers = HandOverRecord(slots: 1)
        try handOvers.begin(Sample.session(1), campaign: Sample.header.sum)
        handOvers.note(slot: 0, firstRow: 1, rows: 3)
        files.words = handOvers.snapshot
        let past = try #require(try RunPast(files, name: "run", reopening: reopening).ranges.first)
        #expect(past.handed == 3 && past.range.remaining == (reopening ? 3 : 2))
        #expect((0..<4).map(past.wasAnswered) == [false, reopening, false, false])
    }

    /// Session 2 reopened row 2 and was killed while it sent it. Another range has a row to reopen then.
    @Test("A row that an earlier session reopened may have been sent by it")
    func reopenedBefore() throws {
        let unavailable = { Sample.End(row: $0, outcome: .unavailable, status: 503, attempts: 5) }
        let files = MemoryFiles()
        files.ledger.bytes =
            Sample.ledger([
                { encoder, _ in encoder.add(Sample.header) }, { encoder, _ in encoder.add(Sample.session(1)) },
                { encoder, _ in encoder.add(Sample.range(1, rows: 4)) },
                { encoder, _ in encoder.add(Sample.range(5, rows: 4)) },
                { encoder, _ in encoder.add(Sample.batch([unavailable(2), unavailable(3)])) },
                { encoder, _ in encoder.addReopened(.unavailable) }, { encoder, _ in encoder.add(Sample.session(2)) },
                { encoder, _ in encoder.add(Sample.range(1, rows: 4)) },
                { encoder, _ in encoder.add(Sample.range(5, rows: 4)) },
                { encoder, _ in encoder.add(Sample.batch([unavailable(3), unavailable(5)])) },
            ]).bytes
        files.lines.bytes = ResultLines.header(Sample.header.resultColumns)
        let handOvers = HandOverRecord(slots: 2)
        try handOvers.begin(Sample.session(2), campaign: Sample.header.sum)
        handOvers.note(slot: 0, firstRow: 1, rows: 4)
        handOvers.note(slot: 1, firstRow: 5, rows: 4)
        files.words = handOvers.snapshot
        let past = try RunPast(files, name: "run", reopening: true).ranges
        #expect(
            past.map { range in (0..<4).map(range.wasAnswered) } == [
                [false, false, true, false], [true, false, false, false],
            ])
        #expect(past[0].range.attempts(of: 1) == 5, "the requests of the first session are not forgotten")
    }
}
