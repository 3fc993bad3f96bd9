import APNSBatchModel

/// The rows of a query as the input of a campaign.
///
/// ```swift
/// let input = try QueryInput("SELECT token, first_name FROM devices WHERE is_active", in: "service=push")
/// let run = try CampaignRun(campaign, input: .origin(input))
/// ```
///
/// The columns of the query are those of the input, by their names, and NULL is an empty field. The types of the columns decide the form
/// of their values: booleans are `true` and `false`, bytes hexadecimal digits, arrays and composite values JSON; an interval is an
/// error. The query is executed once for each reading, by `COPY` in a transaction that only reads and sees one state of the
/// database. A run reads all rows into its directory before the first push, and the transaction and the connection have ended by
/// then. If a row cannot be made, or the connection is lost, nothing is sent.
public struct QueryInput: InputOrigin {
    /// `<query>`, as it stands in messages.
    public var name: String { "<query>" }

    /// `none`: PostgreSQL doubles quotes.
    public var escape: Campaign.Escape? { Campaign.Escape.none }

    private let query: String
    private let database: String
    private let patience: Duration

    /// Prepares a query. The connection string is checked, and no connection is made.
    ///
    /// - Parameters:
    ///   - query: One statement that returns rows: `SELECT`, `VALUES`, `TABLE` or `WITH`. A semicolon may follow it. PostgreSQL, "COPY".
    ///   - database: A connection string of libpq, such as `service=push`, as that of ``ResultsTable``.
    ///   - patience: The time that the server may take for the query, at least a millisecond.
    /// - Throws: ``DatabaseError`` with `configuration`: the connection string is invalid, or has a password; there is no query; or libpq is
    ///   not installed.
    public init(_ query: String, in database: String, patience: Duration = .seconds(3600)) throws(DatabaseError) {
        var text = query[...]
        while let last = text.last, last.isWhitespace || last == ";" { text.removeLast() }
        guard !text.isEmpty, !text.utf8.contains(0) else {
            throw DatabaseError(.configuration, "expected a query, such as SELECT token FROM devices, found none")
        }
        try LibPQ.check(database)
        (self.query, self.database, self.patience) = (String(text), database, patience)
    }

    /// Connects. The query begins when the first bytes are read.
    ///
    /// - Throws: ``DatabaseError``.
    public func open() throws -> any InputBytes { try QueryBytes(query, in: database, patience: patience) }
}
