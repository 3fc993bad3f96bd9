import APNSBatchBasics
import APNSBatchModel

/// Everything that is written of a run: its ledger, and the receivers of its outcomes.
///
/// Two threads use it: the reader announces ranges, and the writer records outcomes.
package final class RunRecord: Sendable {
    package let ledger: RunLedger
    package let account: OutcomeAccount
    private let results: ResultsFile
    /// All receivers of outcomes, in the order in which they get them.
    private let receivers: [any OutcomeReceiver]
    /// The receivers that failed and get nothing more.
    private let failed = Guarded<Set<ObjectIdentifier>>([])
    /// Whether it was logged that no space can be reserved.
    private let hasSaidUnreserved = Guarded(false)
    private let warn: @Sendable (String) -> Void
    private let stop: @Sendable (CampaignError) -> Void

    /// - Parameters:
    ///   - warn: receives messages for the operator.
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

    /// Announces ranges. They are durable on return, and space is reserved for the outcomes of their rows.
    ///
    /// - Parameter remaining: how many of their rows have no outcome so far; nil for all.
    package func announce(_ ranges: [LedgerRange], remaining: Int? = nil) throws(StorageError) {
        let all = ranges.reduce(0) { $0 + $1.rows }
        let rows = remaining ?? all
        assert(rows >= 0 && rows <= all, "the rows that remain are among those of the ranges")
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

    /// Records outcomes, first in the ledger: after a kill, a line that the ledger does not explain would be wrong. They
    /// are durable after the next mark.
    ///
    /// - Throws: if the ledger failed. A receiver that fails ends the run instead.
    package func record(_ batch: OutcomeBatch) throws(StorageError) {
        try ledger.record(batch)
        forEach { (receiver) throws(StorageError) in try receiver.take(batch) }
    }

    /// Makes everything recorded durable, and appends a mark to the ledger. After a receiver has failed there are no marks.
    ///
    /// - Parameter figures: the figures of the session so far, which are recorded after the mark.
    package func mark(_ figures: SessionFigures? = nil) throws(StorageError) {
        guard isIntact else { return }
        let covered = try ledger.confirmedLength()
        forEach { (receiver) throws(StorageError) in try receiver.sync() }
        guard isIntact else { return }
        try ledger.mark(covered: covered, results: results.extent, figures)
    }

    /// Ends the session in order, even if a receiver failed, because the ledger is complete.
    package func end(_ figures: SessionFigures? = nil) throws(StorageError) {
        try mark(figures)
        try ledger.end()
        forEach { (receiver) throws(StorageError) in try receiver.finish() }
    }

    /// Stops the campaign, because nothing may be sent that cannot be recorded. Outcomes of requests already sent are
    /// recorded as long as the ledger works.
    func fail(_ error: StorageError) { stop(CampaignError(.results, "\(error)", cause: error)) }

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
