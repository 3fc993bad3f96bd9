import Foundation
import Testing

/// A PostgreSQL server with a cluster of its own, which listens on a socket in its directory only. It ends with this process.
final class PostgresCluster: @unchecked Sendable {
    private let scratch: Scratch
    private let directory: String
    /// A shell that starts the server, and ends it when its standard input does.
    private var shell: Child?

    /// The directory of Debian's programs of the server, newest version first; nil if there are none.
    private static let programs: String? = {
        let root = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        return versions.compactMap { Int($0) }.max().map { "\(root)/\($0)/bin" }
    }()

    /// The server refuses to run as root.
    private static let user: [String] =
        geteuid() == 0 ? ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"] : []

    init() throws {
        scratch = try Scratch()
        // Not below the directory for temporary files of this user, which the other user may not enter. A socket's path is short.
        directory = "/tmp/apns-batch-postgres-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        if geteuid() == 0 { try prepare("chown", ["postgres:", directory], in: scratch) }
        let initdb = try #require(Self.programs, "PostgreSQL is not installed") + "/initdb"
        let command =
            Self.user + [
                initdb, "-N", "-A", "trust", "-U", "tester", "-E", "UTF8", "--locale=C", "-D", "\(directory)/data",
            ]
        try prepare("/usr/bin/env", ["-C", "/tmp"] + command, in: scratch)
        try start()
    }

    deinit {
        stop()
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// The connection string.
    var connection: String { "host=\(directory) user=tester dbname=postgres" }

    /// Starts the server, and waits until it answers. After a kill, processes of the last one may keep it from starting for a moment.
    func start() throws {
        let server = [
            "\(Self.programs ?? "")/postgres", "-D", "\(directory)/data", "-k", directory, "-c", "listen_addresses=",
            "-c",
            "fsync=off",
        ]
        let script = #""$@" & server=$!; cat >/dev/null; kill -QUIT $server 2>/dev/null; wait $server"#
        var answers = false
        for _ in 0..<20 where !answers {
            stop()
            shell = try Child(
                "/bin/sh", ["-c", script, "sh"] + Self.user + server, name: "postgres", in: scratch, input: .pipe)
            answers =
                eventually(seconds: 5) { (try? query("SELECT 1")) == ["1"] || processID == nil } && processID != nil
        }
        try #require(answers, "\(shell?.errors ?? "")")
    }

    /// Ends the server in the quickest way in which it ends its processes.
    func stop() {
        shell?.closeInput()
        _ = shell?.wait(seconds: 20)
        shell = nil
    }

    /// Kills the main process of the server, as a lack of memory does.
    func kill() throws {
        Foundation.kill(try #require(processID), SIGKILL)
        stop()
    }

    private var processID: pid_t? {
        let text = try? String(contentsOfFile: "\(directory)/data/postmaster.pid", encoding: .utf8)
        return text?.split(separator: "\n").first.flatMap { pid_t($0) }
    }

    /// Executes SQL, and returns the lines of its results, as CSV.
    @discardableResult
    func query(_ sql: String) throws -> [String] {
        struct Refused: Error { let errors: String }
        let finished = try Child.run(
            "psql", ["-X", "-q", "-t", "--csv", "-v", "ON_ERROR_STOP=1", "-d", connection, "-c", sql], name: "psql",
            in: scratch)
        guard finished.ending == .exited(0) else { throw Refused(errors: finished.errors) }
        return finished.outputLines.map(String.init)
    }

    /// The cluster of the suite that is running.
    @TaskLocal static var current: PostgresCluster?
}

/// Starts one cluster for all tests of a suite, and ends it after the last one.
struct WithPostgres: SuiteTrait, TestScoping {
    var isRecursive: Bool { false }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let cluster = try PostgresCluster()
        try await PostgresCluster.$current.withValue(cluster) { try await function() }
        cluster.stop()
    }
}

extension Trait where Self == WithPostgres {
    static var withPostgres: Self { WithPostgres() }
}
