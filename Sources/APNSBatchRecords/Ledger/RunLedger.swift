import APNSBatchBasics
import APNSBatchModel
import Glibc

/// The ledger of a run in progress.
///
/// Two threads use it: the reader announces ranges, and the writer records outcomes. A lock protects the shared state. It
/// is not held while a sync waits for the disk.
package final class RunLedger: Sendable {
    private let state: Guarded<State>

    /// The error of a failed sync, after which nothing can be called durable: the system may have dropped what it could not
    /// write, and reports that only once. Outcomes are still recorded, so that the file can be read later.
    private let unsynced = Guarded<StorageError?>(nil)

    package let handOvers: HandOverRecord

    private struct State: ~Copyable {
        let storage: any AppendFile
        var encoder = LedgerEncoder()
        /// The number of announced rows without an outcome.
        var rowsOut = 0
        /// The processor time that the ledger used, in nanoseconds.
        var nanoseconds: UInt64 = 0
        /// Why nothing can be appended: the ledger ends with an incomplete record that could not be cut.
        var torn: StorageError?
        var isInputRead = false
        /// The row after the last range that was announced, and what the last mark said.
        var nextRow: UInt64 = 0
        var marked: (covered: UInt64, results: UInt64) = (0, 0)
    }

    /// The maximum length in bytes of the outcome of a row that was sent: without carried columns 16 fixed bytes, a token of
    /// 100, an id of 36, a timestamp of 8, a reason of 256, and room for the frame of its record.
    private let bytesPerRow: Int
    private static let bytesOfPlainRow = 448

    /// The bytes that are reserved for the outcome of a row, with this many carried columns.
    static func bytesReserved(carried: Int) -> Int { bytesOfPlainRow + carried * (1 + CarriedFields.textMax) }

    /// - Parameters:
    ///   - storage: the file, which ends with a complete record.
    ///   - carried: the number of input columns that each outcome has.
    package init(_ storage: any AppendFile, carried: Int = 0, handOvers: HandOverRecord) {
        self.handOvers = handOvers
        bytesPerRow = Self.bytesReserved(carried: carried)
        state = Guarded(State(storage: storage))
    }

    /// The processor time that the ledger has used so far, in seconds.
    package var cpuSeconds: Double { state.withLock { Double($0.nanoseconds) / 1e9 } }

    /// The number of announced rows without an outcome.
    var rowsOut: Int { state.withLock { $0.rowsOut } }

    /// Why the file system reserves no space; nil if it does.
    var reservationFailure: StorageError? { state.withLock { $0.storage.reservationFailure } }

    /// Makes the ledger durable, and records how much of `results.csv` is right and the notes of the previous session,
    /// before another session begins. Only after that may the hand-over file be replaced.
    ///
    /// - Parameters:
    ///   - resultsLength: 0 if no byte of `results.csv` counts until it is written anew.
    ///   - resultsSum: the checksum of the first `resultsLength` bytes of `results.csv`.
    ///   - reopening: whether the outcomes of unavailable rows are taken back.
    ///   - handed: how many of the first rows of ranges an earlier session may have sent.
    static func settle(
        _ ledger: any AppendFile, resultsLength: UInt64, resultsSum: UInt32 = 0, reopening: Bool = false,
        handed: [(firstRow: UInt64, rows: Int)] = []
    ) throws(StorageError) {
        try ledger.sync()
        var encoder = LedgerEncoder()
        encoder.addMark(
            position: ledger.length, covered: ledger.length, resultsLength: resultsLength, resultsSum: resultsSum)
        if reopening { Outcome.allCases.filter(\.canBeReopened).forEach { encoder.addReopened($0) } }
        for range in handed {
            if !encoder.hasRoom {
                try unsafe ledger.append(encoder.bytes)
                encoder.removeAll()
            }
            encoder.addHanded(firstRow: range.firstRow, rows: range.rows)
        }
        try unsafe ledger.append(encoder.bytes)
        try ledger.sync()
    }

    /// Begins a session. Its record is durable on return.
    ///
    /// - Parameter isNew: whether the ledger is empty, so that it needs a header.
    package func begin(_ session: LedgerSession, of header: LedgerHeader, isNew: Bool) throws(StorageError) {
        if isNew { try append { (encoder) in encoder.add(header) } }
        try append { (encoder) in encoder.add(session) }
        try sync()
        try handOvers.begin(session, campaign: header.sum)
    }

    /// Reserves disk space for the outcomes of `rows` more rows.
    func reserve(rows: Int) throws(StorageError) {
        try state.withLock { (state) throws(StorageError) in
            try state.storage.reserve(UInt64((state.rowsOut + rows) * bytesPerRow))
        }
    }

    /// Announces ranges. They are durable on return. On failure, space stays reserved for the rows announced before.
    ///
    /// - Parameter rows: how many of their rows have no outcome so far.
    package func announce(_ ranges: [LedgerRange], rows: Int) throws(StorageError) {
        let begin = SystemClock.threadTime()
        try state.withLock { (state) throws(StorageError) in
            var next = state.nextRow
            for range in ranges {
                precondition(range.firstRow >= next, "ranges are announced in the order of their rows, each once")
                next = range.firstRow + UInt64(range.rows)
            }
            try append(&state) { (encoder) in for range in ranges { encoder.add(range) } }
            (state.rowsOut, state.nextRow) = (state.rowsOut + rows, next)
        }
        try sync()
        count(since: begin)
    }

    /// Says that all rows of the input have been announced.
    package func didReadInput() { state.withLock { $0.isInputRead = true } }

    /// Records outcomes. They are durable after the next mark.
    package func record(_ batch: OutcomeBatch) throws(StorageError) {
        let begin = SystemClock.threadTime()
        try append { (encoder) in encoder.add(batch) }
        state.withLock { $0.rowsOut = max(0, $0.rowsOut - batch.count) }
        count(since: begin)
    }

    /// Records what an operator changed. It is durable after the next mark.
    package func record(_ change: RunChange) throws(StorageError) {
        try append { (encoder) in encoder.add(change) }
    }

    /// Returns the length of the ledger, which a later mark can cover. Records that the reader appends meanwhile are not
    /// covered.
    package func confirmedLength() throws(StorageError) -> UInt64 {
        try state.withLock { (state) throws(StorageError) in
            try state.storage.confirmLength()
            return state.storage.length
        }
    }

    /// Makes all records durable, and appends a mark for this.
    ///
    /// - Parameters:
    ///   - covered: the length of the ledger up to which `results.csv` has the lines of all outcomes.
    ///   - results: the length of `results.csv`, all of it durable, and its checksum.
    ///   - figures: the figures of the session so far, which are recorded after the mark.
    package func mark(
        covered: UInt64, results: (length: UInt64, sum: UInt32), _ figures: SessionFigures? = nil
    ) throws(StorageError) {
        let begin = SystemClock.threadTime()
        try sync()
        try state.withLock { (state) throws(StorageError) in
            let (position, last) = (state.storage.length, state.marked)
            assert(covered >= last.covered && results.length >= last.results, "marks never go back")
            state.marked = (covered, results.length)
            try append(&state) { (encoder) in
                encoder.addMark(
                    position: position, covered: covered, resultsLength: results.length, resultsSum: results.sum)
                if let figures { encoder.add(figures) }
            }
        }
        count(since: begin)
    }

    /// Ends the session in order: no request for a row without an outcome can have arrived unanswered, except among the rows
    /// that `handOvers.unanswered` covers. Reserved space that was not used is released.
    func end() throws(StorageError) {
        try append(handed: handOvers.unanswered)
        try append(attempts: handOvers.attempts)
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

    /// Reads the ledger back; returns nil if it cannot be read.
    package func history() -> LedgerHistory? {
        var reader = LedgerReader(state.withLock { $0.storage })
        return try? reader.read().history
    }

    private func append(handed: [(firstRow: UInt64, rows: Int)]) throws(StorageError) {
        for part in stride(from: 0, to: handed.count, by: 1000) {
            try append { (encoder) in
                for range in handed[part..<min(part + 1000, handed.count)] {
                    encoder.addHanded(firstRow: range.firstRow, rows: range.rows)
                }
            }
        }
    }

    private func append(attempts: [(firstRow: UInt64, rows: [RowAttempts])]) throws(StorageError) {
        for range in attempts {
            for start in stride(from: 0, to: range.rows.count, by: RowAttempts.mostInRecord) {
                let part = range.rows[start..<min(start + RowAttempts.mostInRecord, range.rows.count)]
                // No row more than before may have been sent because of this record.
                try append { (encoder) in encoder.addHanded(firstRow: range.firstRow, rows: 0, attempts: part) }
            }
        }
    }

    private func append(_ body: @Sendable (inout LedgerEncoder) -> Void) throws(StorageError) {
        try state.withLock { (state) throws(StorageError) in try append(&state, body) }
    }

    /// Appends records; the lock is held. An incomplete record is cut, because nothing after it could be read.
    private func append(
        _ state: inout State, _ body: @Sendable (inout LedgerEncoder) -> Void
    ) throws(StorageError) {
        if let torn = state.torn { throw torn }
        state.encoder.removeAll()
        body(&state.encoder)
        let length = state.storage.length
        do throws(StorageError) {
            try unsafe state.storage.append(state.encoder.bytes)
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
        // Cutting also releases the space reserved for rows without an outcome.
        try? state.storage.reserve(UInt64(state.rowsOut * bytesPerRow))
    }

    private func count(since begin: UInt64) {
        let spent = SystemClock.threadTime() - begin
        state.withLock { $0.nanoseconds += spent }
    }
}
