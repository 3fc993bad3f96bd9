import CAPNSPostgres
import Glibc

/// A connection to a database. One thread at a time uses it, and any thread may interrupt it. After an error, end it: the server then
/// takes back what was not committed.
@safe final class PostgresConnection: @unchecked Sendable {
    private let library: apns_postgres
    private let connection: OpaquePointer

    /// What libpq uses unless the connection string sets other values. A server that has vanished must not hold up a run's end.
    private static let standards = [
        ("fallback_application_name", "apns-batch"), ("connect_timeout", "10"), ("tcp_user_timeout", "60000"),
        ("keepalives_idle", "30"), ("keepalives_interval", "10"), ("keepalives_count", "3"),
    ]

    /// Connects, and waits for it.
    ///
    /// - Parameter text: A connection string that ``LibPQ/check(_:)`` has found right.
    init(_ text: String) throws(DatabaseError) {
        let library = try LibPQ.functions()
        self.library = library
        let parameters = Self.standards + [("dbname", text), ("client_encoding", "UTF8")]
        let made = unsafe withCStrings(parameters.map(\.0)) { names in
            unsafe withCStrings(parameters.map(\.1)) { values in unsafe library.connect(names, values, 1) }
        }
        guard let made = unsafe made else {
            throw DatabaseError(.unavailable, "no memory for a connection to the database")
        }
        unsafe connection = made
        guard unsafe library.status(made) == CONNECTION_OK else { throw lost }
        unsafe apns_postgres_silence(made)
    }

    deinit { unsafe library.finish(connection) }

    /// Executes one statement, and returns its rows. Parameters and values are texts.
    @discardableResult
    func execute(_ statement: String, _ parameters: [String] = []) throws(DatabaseError) -> [[String?]] {
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

    /// Executes one statement that returns rows, and returns their columns.
    func columns(of statement: String) throws(DatabaseError) -> [QueryColumn] {
        let result = unsafe send(statement, [])
        defer { unsafe library.clear(result) }
        guard unsafe library.result_status(result) == PGRES_TUPLES_OK else { throw unsafe failure(result) }
        return unsafe (0..<library.column_count(result)).map { column in
            let name = unsafe library.column_name(result, column).map { unsafe String(cString: $0) } ?? ""
            return unsafe QueryColumn(name: name, type: library.column_type(result, column))
        }
    }

    /// Begins a `COPY … FROM STDIN`.
    func beginCopy(_ statement: String) throws(DatabaseError) {
        let result = unsafe send(statement, [])
        defer { unsafe library.clear(result) }
        guard unsafe library.result_status(result) == PGRES_COPY_IN else { throw unsafe failure(result) }
    }

    /// Passes whole rows on, and waits while the server does not take them.
    func copy(_ rows: [UInt8]) throws(DatabaseError) {
        let isTaken = unsafe rows.withUnsafeBytes { bytes in
            unsafe library.put_copy_data(
                connection, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count)) == 1
        }
        guard isTaken else { throw lost }
    }

    /// Ends the copy; the server has taken all rows on return.
    func endCopy() throws(DatabaseError) {
        try endCopy(unsafe library.put_copy_end(connection, nil) == 1)
    }

    private func endCopy(_ isSound: Bool) throws(DatabaseError) {
        var first: DatabaseError?
        while let result = unsafe library.next_result(connection) {
            if first == nil, unsafe library.result_status(result) != PGRES_COMMAND_OK { first = unsafe failure(result) }
            unsafe library.clear(result)
        }
        if let first { throw first }
        if !isSound { throw lost }
    }

    /// Begins a `COPY … TO STDOUT`.
    func beginReading(_ statement: String) throws(DatabaseError) {
        let result = unsafe send(statement, [])
        defer { unsafe library.clear(result) }
        guard unsafe library.result_status(result) == PGRES_COPY_OUT else { throw unsafe failure(result) }
    }

    /// Waits for a row of the copy, and appends it to `bytes`. Returns false at the end of a copy that is whole.
    func read(into bytes: inout [UInt8]) throws(DatabaseError) -> Bool {
        var row: UnsafeMutablePointer<CChar>?
        let count = unsafe library.get_copy_data(connection, &row, 0)
        guard count > 0 else {
            try endCopy(count == -1)
            return false
        }
        defer { unsafe library.free_memory(row) }
        unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(start: row, count: Int(count)))
        return true
    }

    /// Makes a call that waits for the server fail, and all later ones. Any thread may call it while the connection exists.
    func interrupt() { _ = unsafe shutdown(library.socket(connection), Int32(SHUT_RDWR)) }

    private func send(_ statement: String, _ parameters: [String]) -> OpaquePointer? {
        unsafe withCStrings(parameters) { values in
            unsafe library.execute(connection, statement, Int32(parameters.count), nil, values, nil, nil, 0)
        }
    }

    private func failure(_ result: OpaquePointer?) -> DatabaseError {
        func field(_ code: UnicodeScalar) -> String? {
            unsafe library.result_error_field(result, Int32(code.value)).map { unsafe String(cString: $0) }
        }
        guard let state = field("C") else { return lost }
        return DatabaseError(
            state: state, message: field("M") ?? "the server refused a statement",
            position: field("P").flatMap { Int($0) })
    }

    /// The last error of the connection, on one line.
    private var lost: DatabaseError {
        let text = unsafe library.error_message(connection).map { unsafe String(cString: $0) } ?? ""
        let lines = text.split { $0.isNewline }.map { line in line.drop { $0.isWhitespace } }
        // The message of libpq for a password that is needed and not given.
        if text.contains("no password supplied") {
            return DatabaseError(
                .configuration,
                "the server requires a password, and there is none: give it by a password file (PGPASSFILE or ~/.pgpass) or a "
                    + "service file")
        }
        return DatabaseError(
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
