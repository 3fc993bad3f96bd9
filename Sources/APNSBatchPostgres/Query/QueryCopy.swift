import APNSBatchBasics

/// The statement that copies the rows of a query, with the values in the forms that their types need.
struct QueryCopy {
    /// Why the types of the columns are not known; nil if they are. The statement then only serves to get the server's message about what is wrong
    /// with the query alone: rows in other forms than those of their types must not be taken.
    private(set) var undescribed: DatabaseError?
    /// What stands before the query. A query may end in a comment, so the brackets are on lines of their own.
    let start: String
    let query: String
    private let end: String

    var text: String { start + query + end }

    private static let options = "TO STDOUT (FORMAT csv, HEADER, ENCODING 'UTF8')"

    private init(start: String, query: String, end: String) {
        (self.start, self.query, self.end) = (start, query, end)
    }

    /// A copy of the rows as they are.
    init(_ query: String) {
        self.init(start: "COPY (\n", query: query, end: "\n) \(Self.options)")
    }

    /// - Parameters:
    ///   - columns: The columns of the query, two of which may have the same name.
    ///   - forms: The form of each.
    /// - Throws: If a column has values that have no form.
    init(_ query: String, _ columns: [QueryColumn], _ forms: [ColumnForm]) throws(DatabaseError) {
        if let index = forms.firstIndex(of: .refused) { throw Self.refusal(of: columns[index].name) }
        guard forms.contains(where: { $0 != .printed }) else {
            self.init(query)
            return
        }
        // The query keeps its order: PostgreSQL sorts below the outer SELECT, which has no order of its own.
        let list = zip(columns, forms).enumerated().map { index, column in
            "\(column.1.expression(of: "input.c\(index)")) AS \(Self.identifier(column.0.name))"
        }
        let names = columns.indices.map { "c\($0)" }
        self.init(
            start: "COPY (SELECT \(list.joined(separator: ", ")) FROM (\n", query: query,
            end: "\n) AS input (\(names.joined(separator: ", "))) ) \(Self.options)")
    }

    private static func identifier(_ name: String) -> String { "\"\(name.replacing("\"", with: "\"\""))\"" }

    private static func refusal(of name: String) -> DatabaseError {
        DatabaseError(
            .configuration,
            "the column \(name.quoted) is an interval, which is neither a time nor a number: write now() + \(name) for a time from now, or "
                + "extract(epoch FROM \(name))::bigint for its seconds, or \(name)::text for its text")
    }
}

extension QueryCopy {
    /// Asks the server for the types of the columns. No row is computed.
    ///
    /// - Throws: What passes by itself. See ``undescribed`` for what does not.
    init(_ query: String, asking connection: PostgresConnection) throws(DatabaseError) {
        try connection.execute("SAVEPOINT described")
        let columns: [QueryColumn]
        do throws(DatabaseError) {
            columns = try connection.columns(of: "SELECT * FROM (\n\(query)\n) AS described LIMIT 0")
        } catch {
            guard !error.mayPass || error.isAboutWriting else { throw error }
            try connection.execute("ROLLBACK TO SAVEPOINT described")
            self.init(query)
            undescribed = error
            return
        }
        try connection.execute("RELEASE SAVEPOINT described")
        let categories = try Self.categories(of: columns, connection)
        let forms = columns.map { ColumnForm(type: $0.type, category: categories[$0.type] ?? "") }
        try self.init(query, columns, forms)
    }

    /// Returns the category of each type.
    private static func categories(
        of columns: [QueryColumn], _ connection: PostgresConnection
    ) throws(DatabaseError) -> [UInt32: String] {
        let types = Set(columns.map(\.type)).map(String.init).joined(separator: ",")
        let rows = try connection.execute(
            "SELECT oid, typcategory FROM pg_catalog.pg_type WHERE oid = ANY ($1::pg_catalog.oid[])", ["{\(types)}"])
        let pairs = rows.map { (UInt32($0[0] ?? "") ?? 0, $0[1] ?? "") }
        return Dictionary(pairs) { first, _ in first }
    }
}
