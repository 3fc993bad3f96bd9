import Glibc
import LaneTransport

/// The ledger of a run that goes on, and `results.csv`, which is written from the same batches.
///
/// Two threads come here: the reader announces ranges, the writer records outcomes. What they share is behind a lock; the
/// disk is waited for outside of it.
package final class RunLedger: @unchecked Sendable {
    private let lock = Guarded<Void>(())
    // Under the lock.
    private let ledger: any LedgerStorage
    private let results: any LedgerStorage
    private var encoder = LedgerEncoder()
    /// Rows announced that have no outcome.
    private var rowsOut = 0
    private var nanoseconds: UInt64 = 0

    package let board: HandOverBoard

    /// What the outcome of a row that was sent takes at most: a token of 100 bytes, an id, a reason of 256 bytes.
    private static let ledgerBytesPerRow = 448
    private static let resultBytesPerRow = 832

    init(ledger: any LedgerStorage, results: any LedgerStorage, board: HandOverBoard) {
        self.ledger = ledger
        self.results = results
        self.board = board
    }

    /// Processor time that went into it so far.
    package var cpuSeconds: Double { lock.withLock { _ in Double(nanoseconds) / 1e9 } }

    var resultsLength: UInt64 { lock.withLock { _ in results.length } }

    /// The first words of a process: durable on return.
    ///
    /// - Parameters:
    ///   - header: of a new ledger.
    ///   - handed: rows of ranges that an earlier session may have sent.
    func begin(
        _ session: LedgerSession, header: LedgerHeader?, handed: [(firstRow: UInt64, rows: Int)] = []
    ) throws(StorageError) {
        try append { (encoder) in if let header { encoder.add(header) } }
        try append(handed: handed)
        try append { (encoder) in encoder.add(session) }
        try ledger.sync()
        board.begin(session)
    }

    /// Announces ranges: durable on return, and with room on the disk for all that can become of their rows.
    ///
    /// - Parameter left: rows in them that have no outcome so far; all if nil.
    package func announce(_ ranges: [LedgerRange], left: Int? = nil) throws(StorageError) {
        let begin = ThreadClock.now()
        let rows = left ?? ranges.reduce(0) { $0 + $1.rows }
        try lock.withLock { (_) throws(StorageError) in
            try ledger.reserve(UInt64((rowsOut + rows) * Self.ledgerBytesPerRow))
            try results.reserve(UInt64((rowsOut + rows) * Self.resultBytesPerRow))
            rowsOut += rows
        }
        try append { (encoder) in for range in ranges { encoder.add(range) } }
        try ledger.sync()
        count(since: begin)
    }

    /// Records how rows ended; durable with the next mark.
    func record(_ batch: OutcomeBatch) throws(StorageError) {
        let begin = ThreadClock.now()
        try append { (encoder) in encoder.add(batch) }
        lock.withLock { _ in rowsOut = max(0, rowsOut - batch.count) }
        count(since: begin)
    }

    /// Appends whole lines to `results.csv`.
    func write(_ lines: UnsafeRawBufferPointer) throws(StorageError) {
        try lock.withLock { (_) throws(StorageError) in try results.append(lines) }
    }

    /// Everything recorded is durable on return, and a mark says so.
    ///
    /// - Precondition: the lines of all that was recorded are written.
    func mark() throws(StorageError) {
        let begin = ThreadClock.now()
        let length = resultsLength
        try results.sync()
        try ledger.sync()
        try lock.withLock { (_) throws(StorageError) in
            encoder.removeAll()
            encoder.addMark(position: ledger.length, resultsLength: length)
            try ledger.append(encoder.bytes)
        }
        count(since: begin)
    }

    /// The session ends in order: what has no outcome waits to be sent, but for what the board says was left. Space that
    /// was kept is given back.
    func end() throws(StorageError) {
        try mark()
        try append(handed: board.left)
        try append { (encoder) in encoder.addEnd() }
        try lock.withLock { (_) throws(StorageError) in
            try ledger.truncate(to: ledger.length)
            try results.truncate(to: results.length)
        }
        try ledger.sync()
    }

    /// Another process may work on the run, or this one again.
    func close() { lock.withLock { _ in ledger.unlock() } }

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
        try lock.withLock { (_) throws(StorageError) in
            encoder.removeAll()
            body(&encoder)
            try ledger.append(encoder.bytes)
        }
    }

    private func count(since begin: UInt64) {
        let spent = ThreadClock.now() - begin
        lock.withLock { _ in nanoseconds += spent }
    }
}

/// Processor time of the calling thread.
enum ThreadClock {
    /// Nanoseconds.
    static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
