import APNSBatchBasics

/// Receives the outcomes of a run in batches, after the ledger has them. `results.csv` is one receiver, the counters of the
/// report are another.
///
/// The writer's thread calls all functions except `reserve`. After a receiver has thrown an error it is not called again,
/// and the run ends; the ledger still gets the remaining outcomes.
package protocol OutcomeReceiver: AnyObject, Sendable {
    /// Reserves space for the outcomes of `rows` rows, before the first of them can be sent. Called on the reader's thread.
    func reserve(rows: Int) throws(StorageError)

    /// Takes the outcomes of a batch. The caller reuses the batch after the call.
    func take(_ batch: OutcomeBatch) throws(StorageError)

    /// Returns once everything that was taken survives a loss of power.
    func sync() throws(StorageError)

    /// Ends the run in order: no batch follows, and reserved space that was not used is released.
    func finish() throws(StorageError)
}

extension OutcomeReceiver {
    package func reserve(rows: Int) throws(StorageError) {}
    package func sync() throws(StorageError) {}
    package func finish() throws(StorageError) {}
}
