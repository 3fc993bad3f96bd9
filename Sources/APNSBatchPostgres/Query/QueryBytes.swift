import APNSBatchBasics
import APNSBatchModel

/// The rows of a query, as CSV with a header row.
final class QueryBytes: InputBytes {
    /// Nil when it has ended.
    private let connection: Guarded<PostgresConnection?>
    private let query: String
    private let patience: Duration
    /// Whether the query was sent.
    private let hasBegun = Guarded(false)

    /// A query may end in a comment, so the bracket is on a line of its own.
    private static let start = "COPY (\n"
    private static let end = "\n) TO STDOUT (FORMAT csv, HEADER, ENCODING 'UTF8')"
    private static let room = 64 << 10
    private static let readOnly = "25006"

    init(_ query: String, in database: String, patience: Duration) throws(DatabaseError) {
        connection = Guarded(try PostgresConnection(database))
        (self.query, self.patience) = (query, patience)
    }

    /// The server may not answer before it has the first rows.
    private func begin(_ connection: PostgresConnection) throws(DatabaseError) {
        try connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        // 0 would be no limit.
        let milliseconds = Int32(clamping: max(1, patience.milliseconds))
        try connection.execute("SELECT set_config('statement_timeout', $1, true)", ["\(milliseconds)"])
        try located { () throws(DatabaseError) in try connection.beginReading(Self.start + query + Self.end) }
    }

    func next() throws -> [UInt8]? {
        guard let connection = connection.withLock({ $0 }) else { return nil }
        if isFirstCall() { try begin(connection) }
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

    private func isFirstCall() -> Bool {
        hasBegun.withLock { hasBegun in
            defer { hasBegun = true }
            return !hasBegun
        }
    }

    func cancel() { connection.withLock { $0?.interrupt() } }

    /// Runs `body`, and says in its error which line of the query it is about.
    private func located<Value>(_ body: () throws(DatabaseError) -> Value) throws(DatabaseError) -> Value {
        do throws(DatabaseError) {
            return try body()
        } catch {
            // The transaction only reads, because this library wants it so.
            if error.state == Self.readOnly {
                throw DatabaseError(.configuration, error.description, state: error.state)
            }
            guard let place = error.position.map({ $0 - 1 - Self.start.count }), 0..<query.count ~= place else {
                throw error
            }
            let before = query.prefix(place).split(separator: "\n", omittingEmptySubsequences: false)
            let column = (before.last?.count ?? 0) + 1
            throw DatabaseError(
                error.code, "line \(max(1, before.count)), column \(column): \(error.description)", state: error.state)
        }
    }
}
