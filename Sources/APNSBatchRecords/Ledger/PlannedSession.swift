import APNSBatchBasics
import APNSBatchModel

/// Writes session 0 of a run, in which rows end that its plan suppresses. What follows is a run that is resumed.
///
/// All ranges of the input are announced, so that a range without suppressed rows is not taken for one that nobody has read.
/// A session that was killed goes on where the ledger ends.
package struct PlannedSession: ~Copyable {
    private let ledger: any AppendFile
    private var encoder = LedgerEncoder()
    /// What a killed process has written of the session.
    private let begun: LedgerHistory

    /// Begins the session of a new run.
    ///
    /// - Parameters:
    ///   - ledger: An empty file, which is locked.
    ///   - header: It has the seal of the plan, which is durable.
    ///   - session: ``LedgerSession/planned(process:time:boot:policy:)``.
    package init(in ledger: any AppendFile, of header: LedgerHeader, _ session: LedgerSession) throws(StorageError) {
        precondition(header.plan != nil && ledger.length == 0)
        self.ledger = ledger
        begun = LedgerHistory()
        encoder.add(header)
        try flush()
        try begin(session)
    }

    /// Whether a ledger lacks outcomes of rows that its plan suppresses, so that no other session may follow.
    ///
    /// - Parameter suppressed: The number of these rows.
    package static func isDue(in history: LedgerHistory, suppressed: UInt64) -> Bool {
        guard let session = history.session else { return suppressed > 0 }
        return session.number == LedgerSession.planned && !history.isEnded
    }

    /// Continues where a killed process has stopped. What is torn at the end of the ledger is cut.
    package init(continuing past: LedgerContent, _ session: LedgerSession) throws(StorageError) {
        precondition(past.history.header?.plan != nil)
        (ledger, begun) = (past.ledger, past.history)
        try ledger.truncate(to: past.length)
        if begun.session == nil { try begin(session) }
    }

    private mutating func begin(_ session: LedgerSession) throws(StorageError) {
        precondition(session.number == LedgerSession.planned && session.sendsNothing)
        encoder.add(session)
        try flush()
    }

    /// Announces the next range, unless the ledger has it.
    package mutating func announce(_ range: LedgerRange) throws(StorageError) {
        guard begun.range(of: range.firstRow) == nil else { return }
        if !encoder.hasRoom { try flush() }
        encoder.add(range)
    }

    /// Whether a row has its outcome.
    package func hasEnded(_ row: UInt64) -> Bool {
        begun.range(of: row).map { $0.isDone(Int(row - $0.facts.firstRow)) } ?? false
    }

    /// Records outcomes of ranges that were announced.
    package mutating func record(_ batch: OutcomeBatch) throws(StorageError) {
        guard batch.count > 0 else { return }
        try flush()
        encoder.add(batch)
        try flush()
    }

    /// Ends the session. It is durable on return.
    package consuming func finish() throws(StorageError) {
        if !encoder.hasRoom { try flush() }
        encoder.addEnd(isInputRead: true)
        try flush()
        try ledger.sync()
    }

    private mutating func flush() throws(StorageError) {
        guard unsafe !encoder.bytes.isEmpty else { return }
        try unsafe ledger.append(encoder.bytes)
        encoder.removeAll()
    }
}

extension LedgerSession {
    /// Session 0 of a run with a plan.
    package static func planned(
        process: UInt32, time: UInt64, boot: (UInt64, UInt64), policy: UnknownPolicy
    ) -> LedgerSession {
        LedgerSession(
            number: planned, process: process, time: time, boot: boot, policy: policy, sendsNothing: true)
    }
}

/// A ledger that was read under its lock.
package struct LedgerContent {
    let ledger: any AppendFile
    package let history: LedgerHistory
    /// The end of the last valid record.
    let length: UInt64

    /// Reads a ledger that is locked.
    package init(_ ledger: any AppendFile, boot: (UInt64, UInt64)) throws(LedgerReader.Failure) {
        var reader = LedgerReader(ledger)
        let reading = try reader.read(boot: boot)
        (self.ledger, history, length) = (ledger, reading.history, reading.length)
    }
}
