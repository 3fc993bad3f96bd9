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

        /// Renders the rows of a query with a template that has a placeholder for each type.
        private func renderTypes(_ query: String) throws -> Finished {
            let template = try sender.scratch.write(
                #"{"aps":{"alert":"{{name}}"},"vip":"{{vip:bool}}","n":"{{n:number}}","tags":"{{tags:json}}","extra":"{{extra:json}}"}"#,
                to: "types.json")
            let session = "options='-c datestyle=German,DMY -c timezone=Asia/Kolkata -c bytea_output=escape'"
            let file = try sender.scratch.write(
                """
                input_query: { database: "\(cluster.connection) \(session)", file: "\(try sender.scratch.write(query, to: "types.sql"))" }
                template: "\(template)"
                to: localhost:1
                """, to: "types.yaml")
            return try sender.command(["render", file, "--rows", "0", "--json"] + sender.credentials.flags)
        }

        private func typed(_ expiration: String) -> String {
            """
            SELECT decode(repeat('ab', 32), 'hex') AS token, 'Zoe' AS "name", true AS vip, 7::numeric AS n, ARRAY['a', 'b'] AS tags,
                   '{"k": null}'::jsonb AS extra, \(expiration) AS expiration -- the end
            """
        }

        @Test func `the type of a column decides the form of its values, whatever the session prints`() throws {
            let rendered = try renderTypes(typed("'2099-01-02 03:04:05.5+01'::timestamptz"))
            #expect(rendered.ending == .exited(0), "\(rendered.errors)")
            let plain = rendered.output.replacing("\\\"", with: "\"").replacing(" ", with: "")
            for part in [
                #""vip":true"#, #""n":7"#, #""tags":["a","b"]"#, #""extra":{"k":null}"#, "4071002645",
                String(repeating: "ab", count: 32),
            ] {
                #expect(plain.contains(part), "\(part) is missing")
            }
        }

        @Test func `an interval and a time without zone are refused, with what to write`() throws {
            let interval = try renderTypes(typed("interval '1 hour'"))
            #expect(interval.ending == .exited(64), "\(interval.errors)")
            #expect(
                interval.errors.contains("\"expiration\" is an interval")
                    && interval.errors.contains("now() + expiration"))
            let local = try renderTypes(typed("'2099-01-02 03:04:05'::timestamp"))
            #expect(local.ending != .exited(0) && (local.output + local.errors).contains("zone"), "\(local.errors)")
        }

        @Test func `a record is JSON, and so is what is in an array of records`() throws {
            let rendered = try renderTypes(
                typed("'2099-01-02 03:04:05.5+01'::timestamptz").replacing(
                    "ARRAY['a', 'b']", with: "ARRAY[ROW(1, interval '90 min')]"
                )
                .replacing("'{\"k\": null}'::jsonb", with: "ROW('a', 2)"))
            #expect(rendered.ending == .exited(0), "\(rendered.errors)")
            let plain = rendered.output.replacing("\\\"", with: "\"")
            #expect(plain.contains(#""tags":[{"f1":1,"f2":"PT1H30M"}]"#), "\(rendered)")
            #expect(plain.contains(#""extra":{"f1":"a","f2":2}"#), "\(rendered)")
        }

        @Test func `values never have another form because their types could not be asked for`() throws {
            _ = try makeTable(5)
            let template = try sender.scratch.write(#"{"aps":{"alert":"vip is {{vip}}"}}"#, to: "vip.json")
            let file = try campaign(query("token, true AS vip"), port: 1, "input_timeout: 2s")
            let lock = try Child(
                "psql",
                [
                    "-X", "-q", "-d", cluster.connection, "-c",
                    "BEGIN; LOCK TABLE \(table) IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(3); COMMIT",
                ], name: "lock", in: sender.scratch)
            let isHeld = eventually(seconds: 30) {
                (try? count("pg_locks WHERE mode = 'AccessExclusiveLock' AND relation = '\(table)'::regclass")) == 1
            }
            try #require(isHeld)
            let rendered = try sender.command(
                ["render", file, "--template", template, "--rows", "0", "--json"] + sender.credentials.flags)
            #expect(rendered.ending == .exited(75) || rendered.output.contains("vip is true"), "\(rendered)")
            #expect(!rendered.output.contains("vip is t\\"), "\(rendered)")
            #expect(lock.wait(seconds: 60) == .exited(0))
        }

        @Test func `backslashes of values are text, and escapes of the campaign are for files`() throws {
            let select = #"SELECT repeat('ab', 32) AS token, E'C:\\, \\"x\\' AS text"#
            let template = try sender.scratch.write(#"{"aps":{"alert":"{{text}}"}}"#, to: "text.json")
            let flags = ["--template", template, "--rows", "0", "--json"] + sender.credentials.flags
            let rendered = try sender.command(["render", try campaign(select, port: 1)] + flags)
            #expect(rendered.ending == .exited(0), "\(rendered)")
            #expect(rendered.output.contains(#"C:\\\\, \\\\\\\"x\\\\"#), "\(rendered)")
            let refused = try sender.command(
                ["render", try campaign(select, port: 1), "--escape", "backslash"] + flags)
            #expect(refused.ending == .exited(64) && refused.errors.contains("input_query"), "\(refused)")
        }

        @Test func `odd names and the order survive the conversion`() throws {
            _ = try makeTable(500)
            let plain = try sender.command(
                [
                    "render", try campaign(query("token, first_name, badge, vip::text, note, extras"), port: 1),
                    "--rows", "0", "--json",
                ]
                    + sender.credentials.flags)
            let typed = try sender.command(
                [
                    "render",
                    try campaign(query("token, first_name, badge, vip, note, extras, true AS \"a\"\"b\""), port: 1),
                    "--rows", "0", "--json",
                ]
                    + sender.credentials.flags)
            let withoutID = { (text: String) in text.replacing(/"apns-id":"[^"]*"/, with: "") }
            #expect(typed.ending == .exited(0) && typed.outputLines.count == 500, "\(typed.errors)")
            #expect(withoutID(plain.output) == withoutID(typed.output))
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
                (
                    query("token, pg_sleep(1)"),
                    "the query took longer than 2.0 s, its limit (input_timeout): canceling statement due to statement timeout",
                    75
                ),
                // Not by that limit.
                (query("token, pg_cancel_backend(pg_backend_pid())"), "canceling statement due to user request", 75),
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
