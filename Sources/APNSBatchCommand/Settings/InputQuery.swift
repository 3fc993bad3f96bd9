import APNSBatch
import APNSBatchPostgres

/// The query that `input_query` has.
struct InputQuery {
    private enum Engine {
        case postgresql(database: String)
        case duckdb(database: String?, setup: [String], program: [String])
    }

    private let engine: Engine
    private let query: String?
    private let file: String?

    /// The value of the setting, as far as it can be checked without the database.
    init(_ value: SettingValue) throws {
        let members = value.members ?? [:]
        engine = try Self.engine(members)
        (query, file) = (members["query"]?.text, members["file"]?.text)
        guard (query == nil) != (file == nil) else { throw UsageError("query and file: give one of them") }
    }

    private static func engine(_ members: [String: SettingValue]) throws -> Engine {
        let (setup, program) = (members["setup"], members["program"])
        if members["engine"]?.text == "duckdb" {
            if let program { try CampaignSettings.checkCommand(program) }
            return .duckdb(
                database: members["database"]?.text, setup: setup?.texts ?? [], program: program?.texts ?? [])
        }
        if setup != nil || program != nil { throw UsageError("setup and program: they need engine: duckdb") }
        guard let database = members["database"]?.text else { throw UsageError("database is missing") }
        return .postgresql(database: database)
    }

    /// Whether the rows come as lines of JSON, and not as CSV.
    var isJSON: Bool {
        if case .duckdb = engine { return true }
        return false
    }

    /// - Parameters:
    ///   - patience: The time that the query may take.
    ///   - environment: The variables of a program that executes it.
    ///   - isKept: Whether the rows may have been kept, so that nothing is asked.
    func input(patience: Duration, environment: [String: String], isKept: Bool) throws -> CampaignInput {
        do {
            let text = try query ?? String(decoding: InputFile.bytes(of: file ?? ""), as: UTF8.self)
            switch engine {
            case .postgresql(let database):
                return .origin(try QueryInput(text, in: database, patience: patience))
            case .duckdb(let database, let setup, let program):
                let query = try DuckDBQuery(text, in: database, setup: setup, program: program)
                if !isKept { try DuckDBVersion.check(query.program, environment: environment) }
                return .program(query.arguments, environment: environment, patience: patience)
            }
        } catch {
            throw UsageError("input_query: \(error)", cause: error)
        }
    }

    static let settings: [SettingForm] = [
        SettingForm(
            "engine", .text, standard: "postgresql", words: ["postgresql", "duckdb"], "What executes the query."),
        SettingForm(
            "database", .text,
            "Connection string of libpq, without a password; with duckdb, a database file, or nothing."),
        SettingForm("query", .text, "Statement that returns the rows."),
        SettingForm("file", .path, "File with the statement, instead of query."),
        SettingForm("setup", .texts, "With duckdb, statements that are executed first, such as LOAD httpfs."),
        SettingForm(
            "program", .command, standard: "duckdb", "With duckdb, its program, and arguments that it gets first."),
    ]
}
