import APNSBatchBasics
import APNSBatchCredentials
import APNSBatchModel
import APNSBatchRecords

/// Writes the outcomes of one run into a table, one transaction after the other. One thread uses it.
///
/// A transaction copies rows into a temporary table, inserts them from there, and moves the place of the run. So rows and place
/// are in the database together or not at all, and the next writer continues after the last row that is there, whatever ended
/// before: this process, the server, or the connection while it committed.
final class ExportWork {
    private let table: ResultsTable
    private let directory: String
    private let campaign: String
    /// The minimum number of rows in a transaction, unless fewer are durable. The last batch may exceed it by 2,047.
    private let rowsPerTransaction: Int
    /// Whether the place in the database is to be forgotten, once.
    private var isRewinding: Bool
    private var source: RecordedOutcomes?
    private var connection: PostgresConnection?
    /// The place that the database has.
    private var place: UInt64 = 0
    private let batch = OutcomeBatch()

    private(set) var progress = ExportProgress()

    init(
        _ table: ResultsTable, ofRunIn directory: String, campaign: String, rewinding: Bool = false,
        rowsPerTransaction: Int = 10_000
    ) {
        (self.table, self.directory, self.campaign) = (table, directory, campaign)
        (isRewinding, self.rowsPerTransaction) = (rewinding, rowsPerTransaction)
    }

    private var header: LedgerHeader? { source?.header }

    /// The columns that the campaign carries; nil before the run has begun.
    var columns: [String]? { header?.resultColumns }

    /// Looks at what the run has recorded. Returns false if it has not begun.
    ///
    /// - Parameter all: Whether everything in the ledger counts, because the run is over, or what its process calls durable.
    @discardableResult
    func look(all: Bool) throws(DatabaseError) -> Bool {
        do throws(CampaignError) {
            if columns == nil { source = try RecordedOutcomes(ifBegunIn: directory) }
            if all { try source?.settle() } else { try source?.look() }
        } catch {
            throw DatabaseError(error)
        }
        progress.recorded = source?.rowsDurable ?? 0
        return columns != nil
    }

    /// Ends the connection. The server takes back what was not committed, and the next step connects again.
    func disconnect() { connection = nil }

    /// Writes the rows of one transaction. Returns false if none is left that was recorded.
    func step() throws(DatabaseError) -> Bool {
        do throws(DatabaseError) {
            return try table.located { () throws(DatabaseError) in
                let connection = try connected()
                guard let first = try next() else { return false }
                try write(from: first, to: connection)
                return true
            }
        } catch {
            disconnect()
            throw error
        }
    }

    // MARK: Connections

    private var statements: ResultsStatements { ResultsStatements(table.parts, carried: columns ?? []) }

    /// The name of the run in the table.
    private var run: String { header.map { Self.run($0) } ?? "" }

    /// The parameters of the statements about places.
    private var key: [String] { [statements.table, campaign, run] }

    private func connected() throws(DatabaseError) -> PostgresConnection {
        if let connection { return connection }
        try table.refuseOwn(columns ?? [])
        let made = try PostgresConnection(table.database)
        try made.execute(statements.beginRun, key)
        if isRewinding { try made.execute(statements.rewind, key) }
        isRewinding = false
        try seek(to: Self.place(of: made.execute(statements.findPlace, key)))
        connection = made
        return made
    }

    private func seek(to wanted: UInt64) throws(DatabaseError) {
        do throws(CampaignError) { try source?.seek(to: wanted) } catch { throw DatabaseError(error) }
        // It is another one if the ledger was replaced by an older one; the rows are then written again.
        place = wanted
        progress.written = source?.rowsBefore ?? 0
    }

    private static func place(of rows: [[String?]]) throws(DatabaseError) -> UInt64 {
        guard let place = number(rows) else {
            throw DatabaseError(.unavailable, "apns_batch_offset has lost its row of this run")
        }
        return place
    }

    /// The number that a statement returned; nil if it returned none.
    private static func number(_ rows: [[String?]]) -> UInt64? { (rows.first?.first ?? nil).flatMap { UInt64($0) } }

    // MARK: Rows

    private func next() throws(DatabaseError) -> RecordedOutcomes.Event? {
        do throws(CampaignError) { return try source?.next(into: batch) } catch { throw DatabaseError(error) }
    }

    private func write(
        from first: RecordedOutcomes.Event, to connection: PostgresConnection
    ) throws(DatabaseError) {
        try connection.execute("BEGIN")
        let found = try Self.place(of: connection.execute(statements.lockPlace, key))
        guard found == place else {
            // Another process writes the same run, and was faster.
            try connection.execute("ROLLBACK")
            return try seek(to: found)
        }
        try connection.execute(statements.createStaging)
        let (last, count) = try copy(from: first, to: connection)
        let taken = try Self.number(connection.execute(statements.insert, [campaign, run]))
        if taken != UInt64(count) { try refuseLoss(of: count, in: connection) }
        if last == .reopened { try connection.execute(statements.deleteReopened, [campaign, run]) }
        let (end, rows) = (source?.place ?? 0, source?.rowsBefore ?? 0)
        try connection.execute(statements.movePlace, key + ["\(end)", "\(rows)"])
        try connection.execute("COMMIT")
        (place, progress.written) = (end, rows)
        progress.added += taken ?? UInt64(count)
    }

    /// Throws if rows are not in the table that were to be inserted.
    private func refuseLoss(of rows: Int, in connection: PostgresConnection) throws(DatabaseError) {
        let missing = try Self.number(connection.execute(statements.countMissing, [campaign, run])) ?? 0
        guard missing > 0 else { return }
        throw DatabaseError(
            .configuration,
            "it did not take \(missing.grouped) of \(UInt64(rows).grouped) rows: a trigger of the table drops them, so that results are missing"
        )
    }

    /// Copies the outcomes in the batch and those that follow, up to a record after which earlier rows have no outcome. Returns
    /// the last event, and the number of rows.
    private func copy(
        from first: RecordedOutcomes.Event, to connection: PostgresConnection
    ) throws(DatabaseError) -> (RecordedOutcomes.Event, rows: Int) {
        guard let header else { return (first, 0) }
        var lines = CopyRows(
            campaign: header.identity, carried: header.resultColumns.count, tokens: table.tokens)
        var (last, count) = (first, 0)
        try connection.beginCopy(statements.copy)
        while last == .outcomes {
            lines.removeAll()
            do throws(CredentialError) { try lines.append(batch) } catch {
                throw DatabaseError(.unavailable, "\(error)")
            }
            try connection.copy(lines.bytes)
            count += batch.count
            guard count < rowsPerTransaction, let following = try next() else { break }
            last = following
        }
        try connection.endCopy()
        return (last, count)
    }

    /// The start of a run in UTC, and the beginning of its campaign's id: `20261121T030012Z-0b4f1f3c`.
    static func run(_ header: LedgerHeader) -> String {
        let start = Timestamp.text(Int64(header.start)).filter { $0 != "-" && $0 != ":" }
        return "\(start)-\(CampaignID(header.identity).description.prefix(8))"
    }
}
