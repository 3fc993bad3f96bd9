import APNSBatchBasics

/// A table of PostgreSQL for the results of runs: one row for each line of `results.csv`.
///
/// ```swift
/// let table = try ResultsTable(in: "service=push", named: "push_results")
/// try table.create()
/// try ResultsExport(ofRunIn: "runs/tonight", campaign: "nightly", to: table).write()
/// ```
///
/// It has the columns of `results.csv`, where an empty field is NULL, after two more: `campaign`, the name of the campaign, and
/// `run`, which names the run by its start in UTC and the beginning of the campaign's id, `20261121T030012Z-0b4f1f3c`. The three columns
/// `campaign`, `run` and `row` are its primary key. A table that was made elsewhere may have other columns and types, as long as
/// these can be assigned. Beside it, in the same schema, the table `apns_batch_offset` has how far each run was written.
public struct ResultsTable: Sendable, Equatable {
    /// The connection string of libpq. It has no password.
    public let database: String
    /// The name of the table, with its schema and a dot in front if it is not in the search path. It is taken as it is, so that
    /// upper-case letters matter.
    public let name: String
    /// How device tokens are written.
    public let tokens: TokenForm
    /// The parts of the name.
    let parts: [String]

    /// Names a table. The connection string is checked, and no connection is made.
    ///
    /// - Parameters:
    ///   - database: A connection string of libpq, such as `service=push` or `postgresql://user@db/push`. Missing values
    ///     comes from the environment, as in every program that uses libpq. PostgreSQL, "Connection Strings".
    ///   - name: `TABLE` or `SCHEMA.TABLE`.
    ///   - tokens: How device tokens are written.
    /// - Throws: ``DatabaseError`` with `configuration`: the connection string is invalid, or has a password; the name is invalid; or
    ///   libpq is not installed.
    public init(
        in database: String, named name: String = "push_results", tokens: TokenForm = .whole
    ) throws(DatabaseError) {
        parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count <= 2, parts.allSatisfy({ 1...63 ~= $0.utf8.count && !$0.utf8.contains(0) }) else {
            throw DatabaseError(.configuration, "expected a table TABLE or SCHEMA.TABLE, found \(name.quoted)")
        }
        try LibPQ.check(database)
        (self.database, self.name, self.tokens) = (database, name, tokens)
    }

    /// Returns the statements of SQL that make the table and `apns_batch_offset`, unless they exist.
    ///
    /// - Parameter columns: The columns that campaigns carry (`Campaign.resultColumns`), which become columns of text.
    public func creation(columns: [String] = []) -> [String] { ResultsStatements(parts, carried: columns).creation }

    /// Makes the table and `apns_batch_offset`, unless they exist. An existing table is not changed.
    ///
    /// - Parameter columns: The columns that campaigns carry (`Campaign.resultColumns`), which become columns of text.
    /// - Throws: ``DatabaseError``.
    public func create(columns: [String] = []) throws(DatabaseError) {
        try located { () throws(DatabaseError) in
            let connection = try PostgresConnection(database)
            for statement in creation(columns: columns) { try connection.execute(statement) }
        }
    }

    /// Executes everything that an export does, with no rows, and takes it back: the table, its columns, their types, its key and the
    /// rights of the user are then known to do.
    ///
    /// - Parameter columns: The columns that campaigns carry (`Campaign.resultColumns`).
    /// - Throws: ``DatabaseError``: `configuration` if something is missing, with its name.
    public func check(columns: [String] = []) throws(DatabaseError) {
        try located { () throws(DatabaseError) in
            try refuseOwn(columns)
            let connection = try PostgresConnection(database)
            let statements = ResultsStatements(parts, carried: columns)
            let run = [statements.table, "", ""]
            try connection.execute("BEGIN")
            try connection.execute(statements.createStaging)
            try connection.execute(statements.insert, ["", ""])
            try connection.execute(statements.deleteReopened, ["", ""])
            try connection.execute(statements.beginRun, run)
            try connection.execute(statements.lockPlace, run)
            try connection.execute(statements.movePlace, run + ["0", "0"])
            try connection.execute("ROLLBACK")
        }
    }

    /// Throws if the campaign carries a column that the table has for itself. Those of `results.csv` are refused before.
    func refuseOwn(_ columns: [String]) throws(DatabaseError) {
        if let column = columns.first(where: { ResultsStatements.ownColumns.contains($0) }) {
            throw DatabaseError(
                .configuration, "the table has a column \(column.quoted) of its own; rename that of the input")
        }
    }

    /// Runs `body`, and names the table in its error.
    func located<Value>(_ body: () throws(DatabaseError) -> Value) throws(DatabaseError) -> Value {
        do throws(DatabaseError) {
            return try body()
        } catch {
            guard error.code != .results else { throw error }
            let remedy =
                error.state == "42P01" ? "; apns-batch export --create makes it, and --print-sql shows how" : ""
            throw DatabaseError(error.code, "table \(name): \(error.description)\(remedy)", state: error.state)
        }
    }
}
