import CAPNSPostgres
import Glibc

/// A connection to a database. One thread at a time uses it. After an error, end it: the server then takes back what was not
/// committed.
@safe final class PostgresConnection {
    private let library: apns_postgres
    private let connection: OpaquePointer

    /// What libpq uses unless the connection string says otherwise. A server that has vanished must not hold up a run's end.
    private static let standards = [
        ("fallback_application_name", "apns-batch"), ("connect_timeout", "10"), ("tcp_user_timeout", "60000"),
        ("keepalives_idle", "30"), ("keepalives_interval", "10"), ("keepalives_count", "3"),
    ]

    /// Connects, and waits for it.
    ///
    /// - Parameter text: A connection string that ``LibPQ/check(_:)`` has found right.
    init(_ text: String) throws(ResultsExportError) {
        let library = try LibPQ.functions()
        self.library = library
        let parameters = Self.standards + [("dbname", text), ("client_encoding", "UTF8")]
        let made = unsafe withCStrings(parameters.map(\.0)) { names in
            unsafe withCStrings(parameters.map(\.1)) { values in unsafe library.connect(names, values, 1) }
        }
        guard let made = unsafe made else {
            throw ResultsExportError(.unavailable, "no memory for a connection to the database")
        }
        unsafe connection = made
        guard unsafe library.status(made) == CONNECTION_OK else { throw lost }
        unsafe apns_postgres_silence(made)
    }

    deinit { unsafe library.finish(connection) }

    /// Executes one statement, and returns its rows. Parameters and values are texts.
    @discardableResult
    func execute(_ statement: String, _ parameters: [String] = []) throws(ResultsExportError) -> [[String?]] {
        let result = unsafe send(statement, parameters)
        defer { unsafe library.clear(result) }
        let status = unsafe library.result_status(result)
        guard status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK else { throw unsafe failure(result) }
        return unsafe (0..<library.row_count(result)).map { row in
            unsafe (0..<library.column_count(result)).map { column in
                guard unsafe library.is_null(result, row, column) == 0 else { return nil }
                return unsafe library.value(result, row, column).map { unsafe String(cString: $0) }
            }
        }
    }

    /// Begins a `COPY … FROM STDIN`.
    func beginCopy(_ statement: String) throws(ResultsExportError) {
        let result = unsafe send(statement, [])
        defer { unsafe library.clear(result) }
        guard unsafe library.result_status(result) == PGRES_COPY_IN else { throw unsafe failure(result) }
    }

    /// Passes whole rows on, and waits while the server does not take them.
    func copy(_ rows: [UInt8]) throws(ResultsExportError) {
        let isTaken = unsafe rows.withUnsafeBytes { bytes in
            unsafe library.put_copy_data(
                connection, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count)) == 1
        }
        guard isTaken else { throw lost }
    }

    /// Ends the copy; the server has taken all rows on return.
    func endCopy() throws(ResultsExportError) {
        guard unsafe library.put_copy_end(connection, nil) == 1 else { throw lost }
        var first: ResultsExportError?
        while let result = unsafe library.next_result(connection) {
            if first == nil, unsafe library.result_status(result) != PGRES_COMMAND_OK { first = unsafe failure(result) }
            unsafe library.clear(result)
        }
        if let first { throw first }
    }

    private func send(_ statement: String, _ parameters: [String]) -> OpaquePointer? {
        unsafe withCStrings(parameters) { values in
            unsafe library.execute(connection, statement, Int32(parameters.count), nil, values, nil, nil, 0)
        }
    }

    private func failure(_ result: OpaquePointer?) -> ResultsExportError {
        func field(_ code: UnicodeScalar) -> String? {
            unsafe library.result_error_field(result, Int32(code.value)).map { unsafe String(cString: $0) }
        }
        guard let state = field("C") else { return lost }
        return ResultsExportError(state: state, message: field("M") ?? "the server refused a statement")
    }

    /// The last error of the connection, on one line.
    private var lost: ResultsExportError {
        let text = unsafe library.error_message(connection).map { unsafe String(cString: $0) } ?? ""
        let lines = text.split { $0.isNewline }.map { line in line.drop { $0.isWhitespace } }
        return ResultsExportError(
            .unavailable, lines.isEmpty ? "the connection to the database was lost" : lines.joined(separator: "; "))
    }
}

/// Lends texts to a function of C: a pointer for each, and NULL at the end.
private func withCStrings<Result>(
    _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
) -> Result {
    let copies = unsafe texts.map { unsafe strdup($0) }
    defer { unsafe copies.forEach { unsafe free($0) } }
    return unsafe (copies.map { unsafe UnsafePointer($0) } + [nil]).withUnsafeBufferPointer {
        unsafe body($0.baseAddress!)
    }
}
