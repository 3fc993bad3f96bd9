import Glibc
import Testing

@testable import APNSBatch

@Suite("A ledger on a disk that fails") struct LedgerFaultTests {
    private let ledger = MemoryStorage()
    private let results = MemoryStorage()
    private let run: RunLedger

    init() throws {
        run = RunLedger(ledger: ledger, results: results, board: HandOverBoard(slots: 1))
        try run.begin(LedgerSample.session(1), header: LedgerSample.header)
        try run.announce([LedgerSample.range(1, rows: 2)])
    }

    private static func batch(_ row: UInt64) -> OutcomeBatch {
        LedgerSample.batch([LedgerSample.End(row: row, outcome: .accepted, token: "ab")])
    }

    @Test("outcomes after a range that could not be written whole can be read", arguments: [0, 1, 40, 64, 100])
    func tornRange(cut: Int) throws {
        ledger.cutsNextAppend = cut
        let more = [LedgerSample.range(3, rows: 2), LedgerSample.range(5, rows: 2)]
        #expect(throws: StorageError.self) { try run.announce(more) }
        try run.record(Self.batch(1))
        try run.record(Self.batch(2))
        try run.end()
        let history = try LedgerSample.read(ledger.bytes).history
        #expect(history.isEnded && history.rows == 2 && history.tally.accepted == 2)
    }

    @Test("a range that could not be written leaves room for the outcomes of those before it")
    func roomAfterTornRange() throws {
        ledger.capacity = ledger.length + 10_000
        ledger.cutsNextAppend = 10
        #expect(throws: StorageError.self) { try run.announce([LedgerSample.range(3, rows: 2)]) }
        ledger.capacity = ledger.length
        try run.record(Self.batch(1))
        try run.record(Self.batch(2))
    }

    @Test("what is torn and cannot be cut is the last that was written")
    func tornForGood() throws {
        ledger.cutsNextAppend = 40
        ledger.failsToCut = true
        #expect(throws: StorageError.self) { try run.record(Self.batch(1)) }
        let length = ledger.length
        #expect(throws: StorageError("write", "memory", code: EIO)) {
            try run.announce([LedgerSample.range(3, rows: 2)])
        }
        #expect(throws: StorageError.self) { try run.record(Self.batch(2)) }
        #expect(throws: StorageError.self) { try run.end() }
        #expect(ledger.length == length)
        #expect(try LedgerSample.read(ledger.bytes).history.rows == 2)
    }

    @Test("after a sync that failed nothing is announced and nothing is called durable, but outcomes are kept")
    func failedSync() throws {
        ledger.failsNextSync = true
        #expect(throws: StorageError.self) { try run.announce([LedgerSample.range(3, rows: 2)]) }
        #expect(throws: StorageError("sync", "memory", code: EIO)) {
            try run.announce([LedgerSample.range(5, rows: 2)])
        }
        try run.record(Self.batch(1))
        #expect(throws: StorageError("sync", "memory", code: EIO)) { try run.end() }
        let history = try LedgerSample.read(ledger.bytes).history
        #expect(!history.isEnded && history.resultsLength == 0 && history.tally.accepted == 1)
    }

    @Test("a mark never stands behind a range that is not durable yet")
    func markBesideRange() throws {
        try run.record(Self.batch(1))
        let (ledger, run) = (ledger, run)
        var synced = 0
        ledger.besideNextSync = { () throws(StorageError) in
            // Its own sync has not begun.
            ledger.besideNextSync = { () throws(StorageError) in synced += 1 }
            try run.announceUnsynced([LedgerSample.range(3, rows: 2)])
        }
        try run.mark()
        #expect(synced == 1, "the mark's sync is done again, with the range")
    }
}
