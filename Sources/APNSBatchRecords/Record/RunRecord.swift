import APNSBatchBasics
import APNSBatchModel

/// What is written of a run: its ledger, which is the truth, and the receivers of its outcomes, which follow from it.
///
/// Two threads use it: the reader announces ranges, the writer records outcomes.
package final class RunRecord: Sendable {
    package let ledger: RunLedger
    package let account: OutcomeAccount
    private let results: ResultsFile
    /// All receivers of outcomes, in the order in which they get them.
    private let receivers: [any OutcomeReceiver]
    /// Receivers that get nothing more, because they could not take or keep what they got.
    private let failed = Guarded<Set<ObjectIdentifier>>([])
    /// Whether the operator was told that no space can be reserved.
    private let hasSaidUnreserved = Guarded(false)
    private let warn: @Sendable (String) -> Void
    private let stop: @Sendable (CampaignError) -> Void

    /// - Parameters:
    ///   - warn: is told what an operator should know.
    ///   - stop: ends the run, because something cannot be written.
    init(
        ledger: RunLedger, results: ResultsFile, account: OutcomeAccount = OutcomeAccount(),
        warn: @escaping @Sendable (String) -> Void = { _ in },
        stop: @escaping @Sendable (CampaignError) -> Void = { _ in }
    ) {
        self.ledger = ledger
        self.results = results
        self.account = account
        receivers = [account, results]
        self.warn = warn
        self.stop = stop
    }

    /// Announces ranges: durable on return, and with room on the disk for all that can become of their rows.
    ///
    /// - Parameter left: rows in them that have no outcome so far; all if nil.
    package func announce(_ ranges: [LedgerRange], left: Int? = nil) throws(StorageError) {
        let rows = left ?? ranges.reduce(0) { $0 + $1.rows }
        try ledger.reserve(rows: rows)
        for receiver in receivers { try receiver.reserve(rows: ledger.rowsOut + rows) }
        sayUnreserved()
        try ledger.announce(ranges, rows: rows)
    }

    private func sayUnreserved() {
        guard let failure = ledger.reservationFailure ?? results.reservationFailure else { return }
        let isFirst = hasSaidUnreserved.withLock { hasSaid in
            defer { hasSaid = true }
            return !hasSaid
        }
        if isFirst { warn("\(failure): a full disk will be noticed only when it is written to") }
    }

    /// Records how rows ended, in the ledger first: a line without a record would be one too many after a kill. Durable with
    /// the next mark.
    ///
    /// - Throws: when the ledger did not take it. A receiver that fails ends the run.
    package func record(_ batch: OutcomeBatch) throws(StorageError) {
        try ledger.record(batch)
        forEach { (receiver) throws(StorageError) in try receiver.take(batch) }
    }

    /// Everything recorded is durable on return, and a mark in the ledger says so. There are no marks after a receiver failed.
    ///
    /// - Parameter figures: what the session did so far; they stand beside the mark.
    package func mark(_ figures: SessionFigures? = nil) throws(StorageError) {
        guard isIntact else { return }
        let covered = try ledger.confirmedLength()
        forEach { (receiver) throws(StorageError) in try receiver.sync() }
        guard isIntact else { return }
        try ledger.mark(covered: covered, results: results.extent, figures)
    }

    /// The session ends in order, also where a receiver failed: the ledger tells all.
    package func end(_ figures: SessionFigures? = nil) throws(StorageError) {
        try mark(figures)
        try ledger.end()
        forEach { (receiver) throws(StorageError) in try receiver.finish() }
    }

    /// What cannot be written stops the campaign: nothing more may be sent that could not be accounted for. What was sent is
    /// recorded as long as the ledger takes it.
    func fail(_ error: StorageError) { stop(CampaignError(.results, "\(error)")) }

    private var isIntact: Bool { failed.withLock { $0.isEmpty } }

    private func forEach(_ body: (any OutcomeReceiver) throws(StorageError) -> Void) {
        for receiver in receivers where !failed.withLock({ $0.contains(ObjectIdentifier(receiver)) }) {
            do throws(StorageError) {
                try body(receiver)
            } catch {
                failed.withLock { _ = $0.insert(ObjectIdentifier(receiver)) }
                fail(error)
            }
        }
    }
}
