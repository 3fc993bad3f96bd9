import APNSBatchPostgres

/// The query that `input_query` has.
struct InputQuery {
    private let database: String
    private let query: String?
    private let file: String?

    /// What the setting says, as far as it can be checked without libpq.
    init(_ value: SettingValue) throws {
        let members = value.members ?? [:]
        guard let database = members["database"]?.text else { throw UsageError("database is missing") }
        self.database = database
        (query, file) = (members["query"]?.text, members["file"]?.text)
        guard (query == nil) != (file == nil) else { throw UsageError("query and file: give one of them") }
    }

    /// - Parameter patience: The time that the server may take for the query.
    func input(patience: Duration) throws -> QueryInput {
        do {
            let text = try query ?? String(decoding: InputFile.bytes(of: file ?? ""), as: UTF8.self)
            return try QueryInput(text, in: database, patience: patience)
        } catch {
            throw UsageError("input_query: \(error)", cause: error)
        }
    }

    static let settings: [Setting] = [
        Setting("database", .text, "Connection string of libpq, without a password."),
        Setting("query", .text, "Statement that returns the rows."),
        Setting("file", .path, "File with the statement, instead of query."),
    ]
}
