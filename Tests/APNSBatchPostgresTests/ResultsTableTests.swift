import Testing

@testable import APNSBatchPostgres

/// Tests of what a table is called, and of errors.
@Suite struct ResultsTableTests {
    @Test func `names are quoted, and places are in the schema of the table`() {
        let statements = ResultsStatements(["app", "my\"table"], carried: ["user id"])
        #expect(statements.table == "\"app\".\"my\"\"table\"")
        #expect(statements.places == "\"app\".\"apns_batch_offset\"")
        #expect(statements.creation[0].contains("\"user id\" text"))
        #expect(statements.insert.contains("\"user id\"") && statements.createStaging.contains("carried_1 text"))
        #expect(ResultsStatements(["results"]).places == "\"apns_batch_offset\"")
    }

    @Test(arguments: ["", "a.b.c", "a.", ".b", String(repeating: "x", count: 64)])
    func `a name that is none is refused`(_ name: String) {
        #expect(throws: DatabaseError.self) { try ResultsTable(in: "dbname=x", named: name) }
    }

    @Test(arguments: [
        "dbname=x password=hunter2", "postgresql://me:hunter2@host/x", "postgresql://host/x?password=hunter2",
        "dbname=x sslpassword=hunter2", "hunter2", "dbname=x password='hunter2",
    ])
    func `a connection string with a password, or that is none, is refused and not shown`(_ text: String) {
        let error = #expect(throws: DatabaseError.self) { try ResultsTable(in: text) }
        #expect(error?.code == .configuration && error?.description.contains("hunter2") == false)
    }

    @Test(arguments: [
        "", "service=push", "host=/run/postgresql dbname=x passfile=/etc/pgpass", "postgresql://me@host/x",
    ])
    func `a connection string without a password is taken`(_ text: String) throws {
        #expect(try ResultsTable(in: text).name == "push_results")
    }

    @Test func `a carried column must not have the name of another one`() throws {
        let table = try ResultsTable(in: "host=/nowhere")
        let error = #expect(throws: DatabaseError.self) { try table.check(columns: ["run"]) }
        #expect(error?.code == .configuration)
    }

    @Test func `states that pass by themselves are told apart, and messages about data show none`() {
        #expect(DatabaseError(state: "42703", message: "column").code == .configuration)
        #expect(DatabaseError(state: "57P01", message: "shutdown").code == .unavailable)
        #expect(DatabaseError(state: "40P01", message: "deadlock").code == .unavailable)
        let data = DatabaseError(state: "22P02", message: "invalid input \"abcd\"")
        #expect(data.code == .configuration && !data.description.contains("abcd"))
    }
}
