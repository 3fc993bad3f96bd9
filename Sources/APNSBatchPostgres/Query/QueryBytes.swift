import APNSBatchBasics
import APNSBatchModel

/// The rows of a query, as CSV with a header row.
final class QueryBytes: InputBytes {
    /// Nil when it has ended.
    private let connection: Guarded<PostgresConnection?>
    private let query: String
    private let patience: Duration
    /// The statement that was sent; nil before.
    private let copy = Guarded<QueryCopy?>(nil)

    private static let room = 64 << 10
    private static let canceled = "57014"

    /// When the copying began, in nanoseconds.
    private let copyingSince = Guarded<UInt64>(0)

    init(_ query: String, in database: String, patience: Duration) throws(DatabaseError) {
        connection = Guarded(try PostgresConnection(database))
        (self.query, self.patience) = (query, patience)
    }

    /// The server may not answer before it has the first rows.
    private func begin(_ connection: PostgresConnection) throws(DatabaseError) {
        try connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        // 0 would be no limit.
        let milliseconds = Int32(clamping: max(1, patience.milliseconds))
        // Values are printed in one form, whatever the settings of the session are, also inside of arrays.
        let forms = [
            ("datestyle", "ISO"), ("intervalstyle", "iso_8601"), ("bytea_output", "hex"), ("extra_float_digits", "1"),
        ]
        let settings = forms.map { "set_config('\($0)', '\($1)', true)" }
        try connection.execute(
            "SELECT set_config('statement_timeout', $1, true), \(settings.joined(separator: ", "))", ["\(milliseconds)"]
        )
        copyingSince.withLock { $0 = SystemClock.monotonic() }
        let copy = try located { () throws(DatabaseError) in try QueryCopy(query, asking: connection) }
        self.copy.withLock { $0 = copy }
        copyingSince.withLock { $0 = SystemClock.monotonic() }
        try located { () throws(DatabaseError) in try connection.beginReading(copy.text) }
        if let error = copy.undescribed { throw error }
    }

    func next() throws -> [UInt8]? {
        guard let connection = connection.withLock({ $0 }) else { return nil }
        if copy.withLock({ $0 == nil }) { try begin(connection) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.room + 4096)
        while bytes.count < Self.room {
            let isMore = try located { () throws(DatabaseError) in try connection.read(into: &bytes) }
            if !isMore {
                try connection.execute("COMMIT")
                self.connection.withLock { $0 = nil }
                return bytes.isEmpty ? nil : bytes
            }
        }
        return bytes
    }

    func cancel() { connection.withLock { $0?.interrupt() } }

    /// Whether the query has taken all of its time. Another limit of the server, or a person, ends it before that.
    private var isOverdue: Bool {
        let since = copyingSince.withLock { $0 }
        return SystemClock.monotonic() - since >= patience.nanoseconds
    }

    private func overdue(_ error: DatabaseError) -> DatabaseError {
        let limit = ElapsedTime.text(Double(patience.milliseconds) / 1000)
        return DatabaseError(
            error.code, "the query took longer than \(limit), its limit (input_timeout): \(error.description)",
            state: error.state)
    }

    /// Runs `body`, and adds to its error which line of the query it is about.
    private func located<Value>(_ body: () throws(DatabaseError) -> Value) throws(DatabaseError) -> Value {
        do throws(DatabaseError) {
            return try body()
        } catch {
            // The transaction is read-only, because this library makes it so.
            if error.isAboutWriting {
                throw DatabaseError(.configuration, error.description, state: error.state)
            }
            if error.state == Self.canceled, isOverdue { throw overdue(error) }
            let start = copy.withLock { $0?.start.count ?? 0 }
            guard let place = error.position.map({ $0 - 1 - start }), 0..<query.count ~= place else {
                throw error
            }
            let before = query.prefix(place).split(separator: "\n", omittingEmptySubsequences: false)
            let column = (before.last?.count ?? 0) + 1
            throw DatabaseError(
                error.code, "line \(max(1, before.count)), column \(column): \(error.description)", state: error.state)
        }
    }
}
