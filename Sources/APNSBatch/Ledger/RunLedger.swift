import APNSBatchBasics
import Glibc
import LaneTransport

/// The ledger of a run that goes on, and `results.csv`, which is written from the same batches.
///
/// Two threads come here: the reader announces ranges, the writer records outcomes. What they share is behind a lock; the
/// disk is waited for outside of it.
package final class RunLedger: @unchecked Sendable {
    private let state: Guarded<State>
    // Under the lock, too.
    private let ledger: any LedgerStorage
    private let results: any LedgerStorage
    private var encoder = LedgerEncoder()

    /// Why nothing can be called durable: a sync failed. The system may have forgotten what it could not write, and would
    /// say so only once, to whoever asks first. What is recorded all the same is for a reader that finds it.
    private let unsynced = Guarded<StorageError?>(nil)

    package let board: HandOverBoard

    private struct State {
        /// Rows announced that have no outcome.
        var rowsOut = 0
        /// Of processor time that went into it.
        var nanoseconds: UInt64 = 0
        /// Why nothing can be appended: bytes that are no record stand at the end, and could not be cut.
        var torn: StorageError?
        var isInputRead = false
        /// Of all bytes of `results.csv`.
        var resultsSum: UInt32
        /// Somebody was told that no space can be reserved.
        var hasSaidUnreserved = false
    }

    /// What the outcome of a row that was sent takes at most: a token of 100 bytes, an id, a reason of 256 bytes.
    private static let ledgerBytesPerRow = 448
    private static let resultBytesPerRow = 832
    /// The same, with what is carried.
    private let rowBytes: (ledger: Int, results: Int)

    private let warn: @Sendable (String) -> Void

    /// - Parameters:
    ///   - resultsSum: of what stands in `results.csv`.
    ///   - carried: columns of the input that each line has.
    ///   - warn: told what an operator should know.
    package init(
        ledger: any LedgerStorage, results: any LedgerStorage, resultsSum: UInt32 = 0, carried: Int = 0,
        board: HandOverBoard,
        warn: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.ledger = ledger
        self.results = results
        self.board = board
        self.warn = warn
        rowBytes = (
            Self.ledgerBytesPerRow + carried * (1 + CarriedFields.textMax),
            Self.resultBytesPerRow + carried * (2 * CarriedFields.textMax + 3)
        )
        state = Guarded(State(resultsSum: resultsSum))
    }

    /// Processor time that went into it so far.
    package var cpuSeconds: Double { state.withLock { Double($0.nanoseconds) / 1e9 } }

    var resultsLength: UInt64 { state.withLock { _ in results.length } }

    /// Before another session begins on a ledger: its unavailable rows have no outcome any more. `results.csv`, which has
    /// their lines, counts for nothing from before that on until it is written anew.
    static func reopen(_ ledger: any LedgerStorage) throws(StorageError) {
        try ledger.sync()
        var encoder = LedgerEncoder()
        encoder.addMark(position: ledger.length, covered: ledger.length, resultsLength: 0)
        encoder.addReopened(.unavailable)
        try ledger.append(encoder.bytes)
        try ledger.sync()
    }

    /// Before another session begins on a ledger: what it tells is durable, with `results.csv`, and so is what the board of
    /// the session before tells. Only then may there be a new board.
    ///
    /// - Parameters:
    ///   - resultsSum: of so much of `results.csv`.
    ///   - handed: rows of ranges that an earlier session may have sent.
    static func settle(
        _ ledger: any LedgerStorage, resultsLength: UInt64, resultsSum: UInt32 = 0,
        handed: [(firstRow: UInt64, rows: Int)]
    ) throws(StorageError) {
        try ledger.sync()
        var encoder = LedgerEncoder()
        encoder.addMark(
            position: ledger.length, covered: ledger.length, resultsLength: resultsLength, resultsSum: resultsSum)
        for range in handed {
            if !encoder.hasRoom {
                try ledger.append(encoder.bytes)
                encoder.removeAll()
            }
            encoder.addHanded(firstRow: range.firstRow, rows: range.rows)
        }
        try ledger.append(encoder.bytes)
        try ledger.sync()
    }

    /// The first words of a process: durable on return.
    ///
    /// - Parameter isNew: the ledger is empty, and begins with the header.
    package func begin(_ session: LedgerSession, of header: LedgerHeader, isNew: Bool) throws(StorageError) {
        if isNew { try append { (encoder) in encoder.add(header) } }
        try append { (encoder) in encoder.add(session) }
        try sync()
        try board.begin(session, campaign: header.sum)
    }

    /// Announces ranges: durable on return, and with room on the disk for all that can become of their rows.
    ///
    /// - Parameter left: rows in them that have no outcome so far; all if nil.
    package func announce(_ ranges: [LedgerRange], left: Int? = nil) throws(StorageError) {
        let begin = SystemClock.threadTime()
        let rows = left ?? ranges.reduce(0) { $0 + $1.rows }
        try state.withLock { (state) throws(StorageError) in
            try ledger.reserve(ledgerBytes(state.rowsOut + rows))
            try results.reserve(UInt64((state.rowsOut + rows) * rowBytes.results))
            sayUnreserved(&state)
            // If that fails, room is kept for the rows before these.
            try append(&state) { (encoder) in for range in ranges { encoder.add(range) } }
            state.rowsOut += rows
        }
        try sync()
        count(since: begin)
    }

    private func sayUnreserved(_ state: inout State) {
        guard !state.hasSaidUnreserved, let failure = ledger.reservationFailure ?? results.reservationFailure else {
            return
        }
        state.hasSaidUnreserved = true
        warn("\(failure): a full disk shows only when it is written to")
    }

    /// There are no more rows to announce.
    func didReadInput() { state.withLock { $0.isInputRead = true } }

    /// Records how rows ended; durable with the next mark.
    package func record(_ batch: OutcomeBatch) throws(StorageError) {
        let begin = SystemClock.threadTime()
        try append { (encoder) in encoder.add(batch) }
        state.withLock { $0.rowsOut = max(0, $0.rowsOut - batch.count) }
        count(since: begin)
    }

    /// Appends whole lines to `results.csv`.
    func write(_ lines: UnsafeRawBufferPointer) throws(StorageError) {
        try state.withLock { (state) throws(StorageError) in
            try results.append(lines)
            state.resultsSum = LedgerFrame.sum(of: lines, after: state.resultsSum)
        }
    }

    /// Everything recorded is durable on return, and a mark says so.
    ///
    /// - Parameter figures: of the session so far; they stand beside the mark.
    /// - Precondition: the lines of all that was recorded are written.
    package func mark(_ figures: SessionFigures? = nil) throws(StorageError) {
        let begin = SystemClock.threadTime()
        // The reader goes on meanwhile: what it appends is behind what is covered.
        let (covered, length, sum) = try state.withLock { (state) throws(StorageError) in
            try ledger.confirmLength()
            try results.confirmLength()
            return (ledger.length, results.length, state.resultsSum)
        }
        try results.sync()
        try sync()
        try append { (encoder) in
            encoder.addMark(position: ledger.length, covered: covered, resultsLength: length, resultsSum: sum)
            if let figures { encoder.add(figures) }
        }
        count(since: begin)
    }

    /// The session ends in order: what has no outcome waits to be sent, but for what the board says was left. Space that
    /// was kept is given back.
    ///
    /// - Parameter hasLines: `results.csv` is as the ledger says; if not, it is left alone.
    func end(hasLines: Bool = true, _ figures: SessionFigures? = nil) throws(StorageError) {
        if hasLines { try mark(figures) }
        try append(handed: board.left)
        let isInputRead = state.withLock { $0.isInputRead }
        try append { (encoder) in encoder.addEnd(isInputRead: isInputRead) }
        try state.withLock { (_) throws(StorageError) in
            try ledger.truncate(to: ledger.length)
            if hasLines { try results.truncate(to: results.length) }
        }
        try sync()
    }

    private func sync() throws(StorageError) {
        try unsynced.withLock { (failure) throws(StorageError) in
            if let failure { throw failure }
            do throws(StorageError) {
                try ledger.sync()
            } catch {
                failure = error
                throw error
            }
        }
    }

    /// What the ledger tells, read back at the end of a run that did not complete; nil if it cannot be read.
    func status(boot: (UInt64, UInt64)) -> RunStatus? {
        var reader = LedgerReader(ledger)
        guard let history = try? reader.read().history else { return nil }
        return try? RunStatus(history, notes: board.snapshot, boot: boot, isFree: true)
    }

    /// Another process may work on the run, or this one again.
    func close() { state.withLock { _ in ledger.unlock() } }

    private func append(handed: [(firstRow: UInt64, rows: Int)]) throws(StorageError) {
        for part in stride(from: 0, to: handed.count, by: 1000) {
            try append { (encoder) in
                for range in handed[part..<min(part + 1000, handed.count)] {
                    encoder.addHanded(firstRow: range.firstRow, rows: range.rows)
                }
            }
        }
    }

    private func append(_ body: (inout LedgerEncoder) -> Void) throws(StorageError) {
        try state.withLock { (state) throws(StorageError) in try append(&state, body) }
    }

    /// Under the lock. What is written of a record in vain is cut: behind it nothing could be read.
    private func append(
        _ state: inout State, _ body: (inout LedgerEncoder) -> Void
    ) throws(StorageError) {
        if let torn = state.torn { throw torn }
        encoder.removeAll()
        body(&encoder)
        let length = ledger.length
        do throws(StorageError) {
            try ledger.append(encoder.bytes)
        } catch {
            cut(to: length, &state)
            throw error
        }
    }

    private func cut(to length: UInt64, _ state: inout State) {
        do throws(StorageError) {
            try ledger.truncate(to: length)
        } catch {
            state.torn = error
        }
        // Cutting gives back what was kept for the rows that are out.
        try? ledger.reserve(ledgerBytes(state.rowsOut))
    }

    private func ledgerBytes(_ rows: Int) -> UInt64 { UInt64(rows * rowBytes.ledger) }

    private func count(since begin: UInt64) {
        let spent = SystemClock.threadTime() - begin
        state.withLock { $0.nanoseconds += spent }
    }
}
