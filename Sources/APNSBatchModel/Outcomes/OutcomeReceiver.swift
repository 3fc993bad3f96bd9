import APNSBatchBasics

/// Receives the outcomes of a run in batches, after the ledger has them. `results.csv` is one receiver, the counters of the
/// report are another.
///
/// A receiver gets the outcomes of this session. What an earlier process recorded and did not pass on reaches only
/// `results.csv`, which is mended before the session begins.
///
/// The writer's thread calls all functions except `reserve`. After `take`, `sync` or `finish` has thrown an error, none of
/// them is called again, and the run ends; the ledger still gets the remaining outcomes. A slow receiver holds up the lanes:
/// it should copy the batch, and write it on a thread of its own.
package protocol OutcomeReceiver: AnyObject, Sendable {
    /// Reserves space for outcomes, before the rows can be sent. Called on the reader's thread.
    ///
    /// - Parameter rows: The number of all announced rows without an outcome, including those of earlier calls.
    func reserve(rows: Int) throws(StorageError)

    /// Takes the outcomes of a batch. The caller reuses the batch after the call.
    func take(_ batch: OutcomeBatch) throws(StorageError)

    /// Returns once everything that was taken survives a loss of power.
    func sync() throws(StorageError)

    /// Ends the session in order: no batch follows, and reserved space that was not used is released.
    func finish() throws(StorageError)
}

extension OutcomeReceiver {
    package func reserve(rows: Int) throws(StorageError) {}
    package func sync() throws(StorageError) {}
    package func finish() throws(StorageError) {}
}
