import APNSBatchBasics
import APNSBatchModel
import Glibc

/// The ledger of a run that goes on.
///
/// Two threads use it: the reader announces ranges, the writer records outcomes. What they share is behind a lock, which is
/// not held while the disk is waited for.
package final class RunLedger: Sendable {
    private let state: Guarded<State>

    /// Why nothing can be called durable: a sync failed. The system may have forgotten what it could not write, and says so
    /// only once, to whoever asks first. Outcomes are recorded all the same, for whoever reads the file later.
    private let unsynced = Guarded<StorageError?>(nil)

    package let board: HandOverBoard

    private struct State: ~Copyable {
        let storage: any LedgerStorage
        var encoder = LedgerEncoder()
        /// Rows announced that have no outcome.
        var rowsOut = 0
        /// Processor time that the ledger took.
        var nanoseconds: UInt64 = 0
        /// Why nothing can be appended: bytes that are no record stand at the end, and could not be cut.
        var torn: StorageError?
        var isInputRead = false
    }

    /// What the outcome of a row that was sent takes at most: a token of 100 bytes, an id, a reason of 256 bytes, and what is
    /// carried.
    private let bytesPerRow: Int

    /// - Parameters:
    ///   - storage: the file, which ends with a whole record.
    ///   - carried: the number of input columns that each outcome has.
    package init(_ storage: any LedgerStorage, carried: Int = 0, board: HandOverBoard) {
        self.board = board
        bytesPerRow = 448 + carried * (1 + CarriedFields.textMax)
        state = Guarded(State(storage: storage))
    }

    /// Seconds of processor time that the ledger took so far.
    package var cpuSeconds: Double { state.withLock { Double($0.nanoseconds) / 1e9 } }

    /// Rows announced that have no outcome.
    var rowsOut: Int { state.withLock { $0.rowsOut } }

    /// Why the file system reserves no space; nil if it does.
    var reservationFailure: StorageError? { state.withLock { $0.storage.reservationFailure } }

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

    /// Makes room for the outcomes of so many more rows than are out.
    func reserve(rows: Int) throws(StorageError) {
        try state.withLock { (state) throws(StorageError) in
            try state.storage.reserve(UInt64((state.rowsOut + rows) * bytesPerRow))
        }
    }

    /// Announces ranges: durable on return. If it fails, room is kept for the rows before these.
    ///
    /// - Parameter rows: how many rows of them have no outcome so far.
    package func announce(_ ranges: [LedgerRange], rows: Int) throws(StorageError) {
        let begin = SystemClock.threadTime()
        try state.withLock { (state) throws(StorageError) in
            try append(&state) { (encoder) in for range in ranges { encoder.add(range) } }
            state.rowsOut += rows
        }
        try sync()
        count(since: begin)
    }

    /// There are no more rows to announce.
    package func didReadInput() { state.withLock { $0.isInputRead = true } }

    /// Records how rows ended; durable with the next mark.
    package func record(_ batch: OutcomeBatch) throws(StorageError) {
        let begin = SystemClock.threadTime()
        try append { (encoder) in encoder.add(batch) }
        state.withLock { $0.rowsOut = max(0, $0.rowsOut - batch.count) }
        count(since: begin)
    }

    /// Where the ledger ends: what a mark that is written later can cover. What the reader appends meanwhile is not covered.
    package func confirmedLength() throws(StorageError) -> UInt64 {
        try state.withLock { (state) throws(StorageError) in
            try state.storage.confirmLength()
            return state.storage.length
        }
    }

    /// Everything recorded is durable on return, and a mark says so.
    ///
    /// - Parameters:
    ///   - covered: the length up to which `results.csv` has the lines of all outcomes.
    ///   - results: the length of `results.csv`, all of it durable, and its checksum.
    ///   - figures: of the session so far; they stand beside the mark.
    package func mark(
        covered: UInt64, results: (length: UInt64, sum: UInt32), _ figures: SessionFigures? = nil
    ) throws(StorageError) {
        let begin = SystemClock.threadTime()
        try sync()
        try state.withLock { (state) throws(StorageError) in
            let position = state.storage.length
            try append(&state) { (encoder) in
                encoder.addMark(
                    position: position, covered: covered, resultsLength: results.length, resultsSum: results.sum)
                if let figures { encoder.add(figures) }
            }
        }
        count(since: begin)
    }

    /// The session ends in order: what has no outcome waits to be sent, but for what the board says was left. Room that was
    /// made and not used is given back.
    func end() throws(StorageError) {
        try append(handed: board.left)
        let isInputRead = state.withLock { $0.isInputRead }
        try append { (encoder) in encoder.addEnd(isInputRead: isInputRead) }
        try state.withLock { (state) throws(StorageError) in try state.storage.truncate(to: state.storage.length) }
        try sync()
    }

    private func sync() throws(StorageError) {
        try unsynced.withLock { (failure) throws(StorageError) in
            if let failure { throw failure }
            do throws(StorageError) {
                try state.withLock { $0.storage }.sync()
            } catch {
                failure = error
                throw error
            }
        }
    }

    /// What the ledger tells, read back; nil if it cannot be read.
    package func history() -> LedgerHistory? {
        var reader = LedgerReader(state.withLock { $0.storage })
        return try? reader.read().history
    }

    /// Another process may work on the run, or this one again.
    package func close() { state.withLock { $0.storage.unlock() } }

    private func append(handed: [(firstRow: UInt64, rows: Int)]) throws(StorageError) {
        for part in stride(from: 0, to: handed.count, by: 1000) {
            try append { (encoder) in
                for range in handed[part..<min(part + 1000, handed.count)] {
                    encoder.addHanded(firstRow: range.firstRow, rows: range.rows)
                }
            }
        }
    }

    private func append(_ body: @Sendable (inout LedgerEncoder) -> Void) throws(StorageError) {
        try state.withLock { (state) throws(StorageError) in try append(&state, body) }
    }

    /// Under the lock. What is written of a record in vain is cut: behind it nothing could be read.
    private func append(
        _ state: inout State, _ body: @Sendable (inout LedgerEncoder) -> Void
    ) throws(StorageError) {
        if let torn = state.torn { throw torn }
        state.encoder.removeAll()
        body(&state.encoder)
        let length = state.storage.length
        do throws(StorageError) {
            try state.storage.append(state.encoder.bytes)
        } catch {
            cut(to: length, &state)
            throw error
        }
    }

    private func cut(to length: UInt64, _ state: inout State) {
        do throws(StorageError) {
            try state.storage.truncate(to: length)
        } catch {
            state.torn = error
        }
        // Cutting gives back what was kept for the rows that are out.
        try? state.storage.reserve(UInt64(state.rowsOut * bytesPerRow))
    }

    private func count(since begin: UInt64) {
        let spent = SystemClock.threadTime() - begin
        state.withLock { $0.nanoseconds += spent }
    }
}
