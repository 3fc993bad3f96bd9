import APNSBatchTestSupport
import Foundation
import Testing

extension EndToEndRuns {
    /// Tests of rows from a query of PostgreSQL. They share a server.
    @Suite(.withPostgres, .ownThread, .serialized) struct Queries {
        let cluster: PostgresCluster
        let sender: Sender
        /// Each test has a table of its own.
        let table: String

        init() throws {
            cluster = try #require(PostgresCluster.current)
            sender = try Sender()
            table = "devices_\(UUID().uuidString.prefix(8).lowercased())"
        }

        /// Makes a table with the rows of a CSV file, and returns the path of the file.
        private func makeTable(_ rows: Int) throws -> String {
            let file = try sender.makeRows(rows)
            try cluster.query(
                "CREATE TABLE \(table) (number bigserial, token text, first_name text, badge int, vip bool, note text, extras text)"
            )
            let columns = "token, first_name, badge, vip, note, extras"
            try cluster.query(
                "\\copy \(table) (\(columns)) FROM '\(file)' WITH (FORMAT csv, HEADER, ENCODING 'UTF8')")
            return file
        }

        private func query(_ columns: String = "token, first_name, badge, vip::text, note, extras") -> String {
            "SELECT \(columns) FROM \(table) ORDER BY number"
        }

        /// Writes a campaign file.
        private func campaign(_ query: String, port: UInt16, database: String? = nil, _ more: String = "") throws
            -> String
        {
            let file = try sender.scratch.write(query, to: "recipients.sql")
            return try sender.scratch.write(
                """
                input_query: { database: "\(database ?? cluster.connection)", file: "\(file)" }
                template: "\(Sender.template)"
                to: localhost:\(port)
                \(more)
                """, to: "campaign.yaml")
        }

        /// Whether the command waits for rows of its query.
        private var isReading: Bool {
            (try? count("pg_stat_activity WHERE application_name = 'apns-batch' AND query LIKE 'COPY%'")) == 1
        }

        /// Starts a run, and waits until it reads the rows of a query that takes long for each.
        private func startReading(_ slow: String, port: UInt16) throws -> Child {
            let file = try campaign(query("token, \(slow)"), port: port)
            let arguments = ["run", file, "--run-dir", sender.newRunDirectory()] + sender.credentials.flags
            let process = try Child(Tools.command, arguments, name: "run", in: sender.scratch)
            let isOn = eventually(seconds: 60) { isReading }
            try #require(isOn, "\(process.errors)")
            return process
        }

        private func count(_ condition: String) throws -> Int {
            Int(try cluster.query("SELECT count(*) FROM \(condition)").first ?? "") ?? -1
        }

        @Test func `the rows of a query give the same requests as those of a file`() throws {
            let file = try makeTable(1_000)
            let flags = ["--rows", "0", "--json"] + sender.credentials.flags
            let query = query() + " -- the end\n;\n"
            let ofQuery = try sender.command(["render", try campaign(query, port: 1)] + flags)
            #expect(ofQuery.ending == .exited(0), "\(ofQuery)")
            let ofFile = try sender.command(
                ["render", "--input", file, "--template", Sender.template, "--to", "localhost:1"] + flags)
            let plain = { (text: String) in text.replacing(/"apns-id":"[^"]*"/, with: "") }
            #expect(ofQuery.outputLines.count == 1_000 && plain(ofQuery.output) == plain(ofFile.output))
        }

        @Test func `a run has left the database before the first push, and is resumed when the table is gone`() throws {
            _ = try makeTable(10_000)
            let simulator = try SimulatorProcess(
                sender, script: Script(seed: 3, rules: [], latency: "{ distribution: uniform, min_ms: 10, max_ms: 30 }")
            )
            let directory = sender.newRunDirectory()
            let file = try campaign(
                query(), port: simulator.port, "run_dir: \"\(directory)\"\nconnections: 1\non_unknown: resend")
            let arguments = ["run", file] + sender.credentials.flags
            let first = try Child(Tools.command, arguments, name: "run", in: sender.scratch)
            let isOn = eventually(seconds: 60) {
                let results = try? FileManager.default.attributesOfItem(atPath: directory + "/results.csv")
                return first.isOver || results?[.size] as? Int ?? 0 > 10_000
            }
            try #require(isOn && !first.isOver, "\(first.errors)")
            #expect(try count("pg_stat_activity WHERE application_name = 'apns-batch'") == 0)
            first.stop(SIGKILL)
            try cluster.query("DROP TABLE \(table)")
            let second = try sender.command(arguments)
            #expect(second.ending == .exited(0), "\(second)")
            try RunResults(directory).expectComplete(rows: 10_000)
            #expect(try simulator.stop().count == 10_000)
        }

        @Test func `a query that fails, at once or after half of its rows: exit code 64 or 75, and nothing was sent`()
            throws
        {
            _ = try makeTable(5_000)
            let simulator = try SimulatorProcess(sender)
            for (query, says, code) in [
                (query("token,\n  nam"), "line 2, column 3: column \"nam\" does not exist", 64),
                (
                    query("token, 1 / (2500 - number) AS badge"), "there is a value that does not fit (SQLSTATE 22012)",
                    64
                ),
                ("DELETE FROM \(table) RETURNING token", "cannot execute DELETE in a read-only transaction", 64),
                (
                    "SELECT token FROM \(table)) TO STDOUT; DROP TABLE \(table); COPY (SELECT 1",
                    "cannot insert multiple commands", 64
                ),
                ("-- nothing\n", "syntax error", 64),
                (query("token, pg_sleep(1)"), "canceling statement due to statement timeout", 75),
            ] as [(String, String, Int32)] {
                let directory = sender.newRunDirectory()
                let file = try campaign(query, port: simulator.port, "input_timeout: 2s")
                let failed = try sender.command(["run", file, "--run-dir", directory] + sender.credentials.flags)
                #expect(failed.ending == .exited(code), "\(failed)")
                #expect(failed.errors.contains("<query>: \(says)"), "\(failed)")
                #expect(failed.errors.contains("; nothing was sent"), "\(failed)")
                #expect(!FileManager.default.fileExists(atPath: directory + "/input.zst"))
            }
            #expect(try count(table) == 5_000)
            #expect(try simulator.stop().isEmpty)
        }

        @Test func `a server that is killed during the query, or is not there: exit code 75, and nothing was sent`()
            throws
        {
            _ = try makeTable(5_000)
            let simulator = try SimulatorProcess(sender)
            let process = try startReading("pg_sleep(0.01)", port: simulator.port)
            try cluster.kill()
            #expect(process.wait(seconds: 60) == .exited(75), "\(process.errors)")
            #expect(process.errors.contains("; nothing was sent"), "\(process.errors)")
            try cluster.start()
            let nowhere = try campaign(query(), port: simulator.port, database: "host=/nowhere")
            let refused = try sender.command(
                ["run", nowhere, "--run-dir", sender.newRunDirectory()] + sender.credentials.flags)
            #expect(refused.ending == .exited(75) && refused.errors.contains("/nowhere"), "\(refused)")
            #expect(try simulator.stop().isEmpty)
        }

        @Test func `a signal during the query ends it`() throws {
            _ = try makeTable(10)
            let process = try startReading("pg_sleep(1000)", port: 1)
            process.send(signal: SIGTERM)
            #expect(process.wait(seconds: 60) == .exited(75), "\(process.errors)")
            #expect(process.errors.contains("stopped while the input was read; nothing was sent"), "\(process.errors)")
        }

        @Test func `a password in the connection string is refused, and so are two inputs`() throws {
            let file = try campaign(query(), port: 1, database: "host=db password=hunter2")
            let refused = try sender.command(["check", file])
            #expect(refused.ending == .exited(64) && refused.errors.contains("campaign.yaml:1:"), "\(refused)")
            #expect(refused.errors.contains("password file") && !refused.errors.contains("hunter2"), "\(refused)")
            let two = try campaign(query(), port: 1, "input: rows.csv")
            let unclear = try sender.command(["check", two])
            #expect(unclear.ending == .exited(64) && unclear.errors.contains("give one of them"), "\(unclear)")
        }
    }
}
