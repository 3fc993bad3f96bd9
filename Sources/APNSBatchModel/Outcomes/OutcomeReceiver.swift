import APNSBatchBasics

/// Takes the outcomes of a run, batch by batch, once they are in the ledger. `results.csv` is one receiver, the counts of the
/// report are another.
///
/// One thread, the writer's, calls everything but `reserve`. After a failure a receiver is asked for nothing more, and the run
/// ends; its ledger goes on.
package protocol OutcomeReceiver: AnyObject, Sendable {
    /// Makes room for the outcomes of so many rows, before the first of them can be sent. The reader's thread calls it.
    func reserve(rows: Int) throws(StorageError)

    /// Takes a batch, which the caller uses again afterwards.
    func take(_ batch: OutcomeBatch) throws(StorageError)

    /// Returns when everything that was taken survives a loss of power.
    func sync() throws(StorageError)

    /// The run ends in order: nothing more comes, and room that was made and not used is given back.
    func finish() throws(StorageError)
}

extension OutcomeReceiver {
    package func reserve(rows: Int) throws(StorageError) {}
    package func sync() throws(StorageError) {}
    package func finish() throws(StorageError) {}
}
