import Foundation

/// The files that are read: rows as `scripts/make-rows` makes them, and templates of the tests.
struct Inputs {
    let rows: Int
    /// Token and name, all rows of one size.
    let plain: RowFile
    /// Six columns, with quotes, line ends and JSON in fields.
    let quoted: RowFile
    /// For files that are written.
    let directory: String

    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    init(rows: Int, directory: String) throws {
        self.rows = rows
        self.directory = directory
        plain = RowFile(path: directory + "/plain.csv")
        quoted = RowFile(path: directory + "/quoted.csv")
        try Self.makeRows(["\(rows)", "--plain", "-o", plain.path])
        try Self.makeRows(["\(rows)", "-o", quoted.path])
        try Self.makeRows(["\(rows)", "--plain", "--ndjson", "-o", directory + "/plain.ndjson"])
        try Self.makeRows(["\(rows)", "--ndjson", "-o", directory + "/quoted.ndjson"])
    }

    /// The template for the rows of a file.
    static func template(_ name: String) throws -> [UInt8] {
        try Array(Data(contentsOf: root.appending(path: "Tests/Fixtures/campaign/\(name).json")))
    }

    private static func makeRows(_ arguments: [String]) throws {
        try run([root.appending(path: "scripts/make-rows").path] + arguments)
    }

    /// Runs a program that prepares a file, given by its path and its arguments.
    static func run(_ command: [String]) throws {
        var argv = command.map { strdup($0) } + [nil]
        defer { argv.forEach { free($0) } }
        var child = pid_t()
        var status: Int32 = 0
        guard posix_spawn(&child, command[0], nil, nil, &argv, environ) == 0, waitpid(child, &status, 0) == child,
            status == 0
        else { throw BenchmarkFailure("\(command.joined(separator: " ")) failed") }
    }
}
