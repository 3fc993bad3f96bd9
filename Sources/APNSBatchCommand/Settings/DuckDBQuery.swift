import APNSBatch
import Foundation

/// A query that the program of DuckDB executes. Its rows come as lines of JSON, in which values keep their types.
struct DuckDBQuery {
    /// The program, and arguments that it gets first.
    let program: [String]
    /// The database file, which is only read; nil for none.
    let database: String?
    /// Statements that are executed before the query, such as `LOAD httpfs`.
    let setup: [String]
    let query: String

    /// - Throws: `UsageError` if the text is no query.
    init(_ query: String, in database: String?, setup: [String], program: [String]) throws {
        var text = query[...]
        while let last = text.last, last.isWhitespace || last == ";" { text.removeLast() }
        guard !text.isEmpty, !text.utf8.contains(0) else {
            throw UsageError("expected a query, such as SELECT token FROM 'devices.parquet', found none")
        }
        if let command = setup.first(where: { $0.drop(while: \.isWhitespace).hasPrefix(".") }) {
            throw UsageError("setup: expected statements of SQL, found \(command.quoted), a command of the program")
        }
        (self.query, self.database) = (String(text), database == ":memory:" ? nil : database)
        (self.setup, self.program) = (setup, program.isEmpty ? ["duckdb"] : program)
    }

    /// The program and its arguments.
    ///
    /// What setup prints would stand between the rows. `-jsonlines` is not used, because DuckDB 1.5 then ends with 0 when a query
    /// fails after its first rows; `COPY` ends with 1. Without `USE_TMP_FILE` it would put a file in the place of
    /// /dev/stdout if that led to a file. A query may end in a comment, so its bracket is on a line of its own.
    var arguments: [String] {
        let statements =
            [".output /dev/null"] + setup + ["COPY (\(query)\n) TO '/dev/stdout' (FORMAT json, USE_TMP_FILE false)"]
        return program + ["-init", "/dev/null", "-bail"] + place + statements.flatMap { ["-c", $0] }
    }

    private var place: [String] {
        guard let database else { return [":memory:"] }
        return ["-readonly", database.hasPrefix("-") ? "./" + database : database]
    }
}
