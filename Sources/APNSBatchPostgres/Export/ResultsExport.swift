import APNSBatchModel
import APNSBatchRecords

/// Writes the results of a run into a table, at any time after they were recorded and any number of times: each result is in the
/// table once. A result that is different now, because its row was sent again (`Campaign.retryUnavailable`), is replaced.
///
/// The place up to which the run was written is in the database, and moves with the rows in one transaction. So it does not matter how
/// an earlier export ended. Several exports of one run at the same time wait for each other.
public struct ResultsExport: Sendable {
    private let directory: String
    private let campaign: String
    private let table: ResultsTable

    /// Names a run and a table. Nothing is read or written yet.
    ///
    /// - Parameters:
    ///   - directory: The run directory.
    ///   - campaign: The name of the campaign, for the column `campaign`. Always give the same one for a run: with another one its rows
    ///     are other rows.
    ///   - table: The table, which must exist.
    public init(ofRunIn directory: String, campaign: String, to table: ResultsTable) {
        (self.directory, self.campaign, self.table) = (directory, campaign, table)
    }

    /// The columns that the campaign of the run carries (`Campaign.resultColumns`).
    ///
    /// - Throws: ``DatabaseError`` with `results` if the directory holds no run.
    public var columns: [String] {
        get throws(DatabaseError) {
            let work = ExportWork(table, ofRunIn: directory, campaign: campaign)
            guard try work.look(all: false), let columns = work.columns else { throw noRun }
            return columns
        }
    }

    /// Writes what the run has recorded so far, and returns when it is in the table. It waits for the database, so call it on a thread
    /// that may wait.
    ///
    /// - Parameters:
    ///   - rewinding: Whether to read all results again, for a table from which rows were deleted. It does no harm otherwise.
    ///   - tell: Is called after each transaction, of some 10,000 rows.
    /// - Returns: What was recorded and is written.
    /// - Throws: ``DatabaseError``. What was written before stays, and the next call continues after it.
    @discardableResult
    public func write(
        rewinding: Bool = false, _ tell: (ExportProgress) -> Void = { _ in }
    ) throws(DatabaseError) -> ExportProgress {
        try refuseDamage()
        let work = ExportWork(table, ofRunIn: directory, campaign: campaign, rewinding: rewinding)
        guard try work.look(all: true) else { throw noRun }
        while try work.step() { tell(work.progress) }
        return work.progress
    }

    /// Throws if the ledger is damaged, so that its beginning is not taken for the whole run.
    private func refuseDamage() throws(DatabaseError) {
        do throws(CampaignError) { _ = try RunStatus(of: directory) } catch { throw DatabaseError(error) }
    }

    private var noRun: DatabaseError { DatabaseError(.results, "\(directory) holds no run") }
}
