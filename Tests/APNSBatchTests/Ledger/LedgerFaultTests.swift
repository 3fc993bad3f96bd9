import APNSBatchBasics
import APNSBatchTransport
import Glibc
import Testing

@testable import APNSBatchModel
@testable import APNSBatchRecords
@testable import APNSBatchSending

/// Tests with failing disks and losses of power.
@Suite("Ledger on a failing disk") struct LedgerFaultTests {
    private typealias Sample = LedgerSample

    private let ledger = MemoryStorage()
    private let results = MemoryStorage()

    /// Returns a record that was begun and has a range of ten rows.
    private func begun(_ control: RunControl = RunControl()) throws -> RunRecord {
        try ResultLines.header().withUnsafeBytes { try results.append($0) }
        let run = RunRecord(ledger, results, stop: { control.stop(.failure($0)) })
        try run.ledger.begin(Sample.session(1), of: Sample.header, isNew: true)
        try run.announce([Sample.range(1, rows: 10)])
        return run
    }

    private func batch(_ rows: ClosedRange<UInt64>) -> OutcomeBatch {
        Sample.batch(rows.map { .init(row: $0, outcome: .accepted, status: 200) })
    }

    @Test("A record that could not be written leaves nothing, and outcomes go on")
    func append() throws {
        let run = try begun()
        let length = ledger.length
        ledger.appendsLeft = 0
        #expect(throws: StorageError("write", "memory", code: EIO)) { try run.announce([Sample.range(11, rows: 5)]) }
        #expect(ledger.length == length)
        try run.record(batch(1...10))
        try run.end()
        let history = try Sample.read(ledger.bytes).history
        #expect(history.isEnded && history.ranges.count == 1 && history.tally[.accepted] == 10)
    }

    @Test("Nothing is written after a torn record that cannot be cut")
    func torn() throws {
        let run = try begun()
        let length = ledger.length
        (ledger.appendsLeft, ledger.cutsLeft) = (0, 0)
        #expect(throws: StorageError("write", "memory", code: EIO)) { try run.record(batch(1...10)) }
        let torn = ledger.length
        let cut = StorageError("cut", "memory", code: EIO)
        #expect(throws: cut) { try run.announce([Sample.range(11, rows: 5)]) }
        #expect(throws: cut) { try run.record(batch(1...10)) }
        #expect(throws: cut) { try run.mark() }
        #expect(throws: cut) { try run.end() }
        #expect(ledger.length == torn && torn > length)
        #expect(try Sample.read(ledger.bytes).length == length)
    }

    @Test("A sync that failed once is never reported as successful afterwards")
    func sync() throws {
        let run = try begun()
        ledger.syncsLeft = 0
        let failure = StorageError("sync", "memory", code: EIO)
        #expect(throws: failure) { try run.mark() }
        #expect(throws: failure) { try run.announce([Sample.range(11, rows: 5)]) }
        #expect(throws: failure) { try run.end() }
        #expect(try !Sample.read(ledger.bytes).history.isEnded)
    }

    @Test("The mark before another session is written only when what it covers is durable")
    func settles() throws {
        _ = try begun()
        let length = ledger.length
        var lengths: [UInt64] = []
        ledger.onSync = { [unowned ledger] in lengths.append(ledger.length) }
        try RunLedger.settle(ledger, resultsLength: results.length, handed: [(1, 10)])
        #expect(lengths == [length, ledger.length] && ledger.length > length)
    }

    @Test("A failure to reserve space is reported once")
    func unreserved() throws {
        let said = Guarded<[String]>([])
        ledger.reservationFailure = StorageError("reserve space for", "memory", code: ENOSYS)
        let run = RunRecord(ledger, results, warn: { text in said.withLock { $0.append(text) } })
        try run.ledger.begin(Sample.session(1), of: Sample.header, isNew: true)
        try run.announce([Sample.range(1, rows: 10)])
        try run.announce([Sample.range(11, rows: 10)])
        #expect(
            said.withLock { $0 } == [
                "cannot reserve space for memory: Function not implemented: a full disk will be noticed only when it is written to"
            ])
    }

    @Test("A mark holds the checksum of the lines before it")
    func marksSum() throws {
        try ResultLines.header().withUnsafeBytes { try results.append($0) }
        let run = RunRecord(ledger, results)
        try run.ledger.begin(Sample.session(1), of: Sample.header, isNew: true)
        try run.announce([Sample.range(1, rows: 10)])
        for rows in [1...3, 4...10] as [ClosedRange<UInt64>] {
            try run.record(batch(rows))
            try run.mark()
            let history = try Sample.read(ledger.bytes).history
            #expect(history.resultsLength == results.length)
            #expect(history.resultsSum == results.bytes.withUnsafeBytes { CRC32C.of($0) })
        }
    }

    @Test("Outcomes recorded after a failed sync can be read back")
    func recordedAfterSync() throws {
        let run = try begun()
        ledger.syncsLeft = 0
        #expect(throws: StorageError.self) { try run.mark() }
        try run.record(batch(1...10))
        let history = try Sample.read(ledger.bytes).history
        #expect(!history.isEnded && history.resultsLength == 0 && history.tally[.accepted] == 10)
    }

    @Test("A range that could not be written leaves room for the outcomes of earlier ranges")
    func roomAfterTornRange() throws {
        let run = try begun()
        ledger.capacity = ledger.length + 10_000
        ledger.appendsLeft = 0
        #expect(throws: StorageError.self) { try run.announce([Sample.range(11, rows: 5)]) }
        ledger.capacity = ledger.length
        try run.record(batch(1...10))
    }

    @Test("A mark does not cover a range that was added while the writer waited for the disk")
    func covered() throws {
        let run = try begun()
        let length = ledger.length
        results.onSync = { try? run.announce([LedgerSample.range(11, rows: 5)]) }
        // The run keeps the results, so a closure in the results that keeps the run would form a reference cycle.
        defer { results.onSync = {} }
        try run.mark()
        #expect(ledger.length > length + 64)
        ledger.bytes[Int(length) + 30] ^= 1
        #expect(try Sample.read(ledger.bytes).length == length)
    }

    @Test("Results that cannot be written stop the run, and its outcomes are still recorded", arguments: 0..<3)
    func lines(kind: Int) throws {
        let (exchange, control) = (OutcomeExchange(lanes: 1), RunControl())
        let run = try begun(control)
        let writer = OutcomeWriter(run, exchange: exchange, interval: 1)
        if kind == 0 { results.appendsLeft = 0 }
        if kind == 1 { results.syncsLeft = 0 }
        if kind == 2 { (results.appendsLeft, results.cutsLeft) = (0, 0) }
        for rows in [1...5, 6...10] as [ClosedRange<UInt64>] {
            // The batch takes the slot of one in the queue of free batches.
            _ = exchange.free.tryPop()
            exchange.filled.push(batch(rows))
            #expect(writer.step(now: rows.upperBound))
        }
        _ = writer.step(now: 100)
        let length = results.length
        writer.end()
        guard case .failure(let failure) = control.stopCause else { return #expect(Bool(false), "the run goes on") }
        #expect(failure.code == .results)
        #expect(run.account.tally[.accepted] == 10 && results.length == length)
        let history = try Sample.read(ledger.bytes).history
        #expect(history.isEnded && history.tally[.accepted] == 10 && history.resultsLength == 0)
    }

    @Test("A run that lost an outcome did not end in order, and counts only recorded ones")
    func lost() throws {
        let (exchange, control) = (OutcomeExchange(lanes: 1), RunControl())
        let run = try begun(control)
        let writer = OutcomeWriter(run, exchange: exchange, interval: 1)
        ledger.appendsLeft = 0
        for rows in [1...5, 6...10] as [ClosedRange<UInt64>] {
            // The batch takes the slot of one in the queue of free batches.
            _ = exchange.free.tryPop()
            exchange.filled.push(batch(rows))
            _ = writer.step(now: 0)
        }
        writer.end()
        #expect(control.stopping && run.account.tally[.accepted] == 5)
        let reading = try Sample.read(ledger.bytes)
        #expect(!reading.history.isEnded && reading.history.tally[.accepted] == 5)
        #expect(reading.length == ledger.length)
    }

    @Test("The end states whether the input was read, and an unstarted run is not complete")
    func inputRead() throws {
        for isRead in [false, true] {
            let (ledger, results) = (MemoryStorage(), MemoryStorage())
            let run = RunRecord(ledger, results)
            try run.ledger.begin(Sample.session(1), of: Sample.header, isNew: true)
            if isRead { run.ledger.didReadInput() }
            try run.end()
            let history = try Sample.read(ledger.bytes).history
            let status = try RunStatus(history, notes: [], boot: (3, 4), isFree: true)
            #expect(status.state == .ended && status.isInputRead == isRead)
        }
    }
}

extension RunRecord {
    /// Creates a record from a ledger and a new `results.csv`.
    convenience init(
        _ ledger: MemoryStorage, _ results: MemoryStorage, warn: @escaping @Sendable (String) -> Void = { _ in },
        stop: @escaping @Sendable (CampaignError) -> Void = { _ in }
    ) {
        self.init(
            ledger: RunLedger(ledger, handOvers: HandOverRecord(slots: 1)),
            results: ResultsFile(
                results, campaign: (1, 2), sum: results.bytes.withUnsafeBytes { CRC32C.of($0) }),
            warn: warn, stop: stop)
    }
}
