import APNSBatchTestSupport
import Foundation
import Testing

extension EndToEndRuns {
    /// Tests of results in a table of PostgreSQL. They share a server.
    @Suite(.withPostgres, .ownThread, .serialized) struct Postgres {
        let cluster: PostgresCluster
        let sender: Sender
        /// Each test has a table of its own.
        let table: String

        init() throws {
            cluster = try #require(PostgresCluster.current)
            sender = try Sender()
            table = "results_\(UUID().uuidString.prefix(8).lowercased())"
        }

        private func export(_ directory: String, _ more: String...) throws -> Finished {
            try sender.command(["export", directory, "--to", cluster.connection, "--table", table] + more)
        }

        /// Makes tables for runs, without a run.
        private func createTable() throws {
            let directory = try run(rows: try sender.makeRows(1))
            let made = try export(directory, "--create")
            try #require(made.ending == .exited(0), "\(made)")
            try cluster.query("TRUNCATE \(table); DELETE FROM apns_batch_offset")
        }

        /// Makes each transaction of an export take so long that it can be interrupted.
        private func slowDown() throws {
            try cluster.query(
                """
                CREATE OR REPLACE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN PERFORM pg_sleep(0.4); RETURN NULL; END $$;
                CREATE TRIGGER slow AFTER INSERT ON \(table) FOR EACH STATEMENT EXECUTE FUNCTION slow()
                """)
        }

        /// Makes the table drop rows, as its owner may have done it.
        private func dropping(_ sql: String) throws {
            try cluster.query(
                "CREATE OR REPLACE FUNCTION drop_\(table)() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \(sql) END $$; "
                    + "CREATE TRIGGER dropping BEFORE INSERT ON \(table) FOR EACH ROW EXECUTE FUNCTION drop_\(table)()")
        }

        /// Sends rows to the simulator inside the command, and returns the run directory.
        private func run(rows: String) throws -> String {
            let directory = sender.newRunDirectory()
            let sent = try sender.command(
                ["send", "--input", rows, "--template", Sender.template, "--to", "simulator", "--run-dir", directory])
            try #require(sent.ending == .exited(0), "\(sent)")
            return directory
        }

        /// Writes a campaign file with `results_to`.
        private func campaign(_ rows: String, database: String, _ more: String = "") throws -> String {
            try sender.scratch.write(
                """
                name: nightly
                input: \(rows)
                template: \(Sender.template)
                to: simulator
                results_to: { database: "\(database)", table: \(table) }
                \(more)
                """, to: "campaign.yaml")
        }

        private func count(_ what: String = "count(*)") -> Int {
            (try? cluster.query("SELECT \(what) FROM \(table)"))?.first.flatMap { Int($0) } ?? 0
        }

        /// Expects that the table has what `results.csv` has.
        private func expectEqual(
            _ directory: String, isComplete: Bool = true, sourceLocation: SourceLocation = #_sourceLocation
        ) throws {
            let results = try RunResults(directory, isComplete: isComplete).lines.map(\.plain)
            let found = try cluster.query(
                """
                SELECT row, token, outcome, status, reason, (extract(epoch FROM timestamp) * 1000)::bigint, apns_id, attempts,
                apns_unique_id FROM \(table) ORDER BY row
                """
            ).map { try ResultLine($0[...]) }
            #expect(found.count == results.count, sourceLocation: sourceLocation)
            #expect(found == results, sourceLocation: sourceLocation)
        }

        private func expectOnce(_ rows: Int, sourceLocation: SourceLocation = #_sourceLocation) {
            #expect(count() == rows && count("count(DISTINCT row)") == rows, sourceLocation: sourceLocation)
        }

        @Test func `the table has every column of results csv, once, also of rows that are sent again`() throws {
            var script = Script(seed: 7, rules: [])
            script.rules = [
                .init(share: 0.2, status: 410, reason: "Unregistered", timestamp: 1_700_000_000_123),
                .init(share: 0.1, status: 400, reason: "BadDeviceToken"),
                .init(share: 0.2, status: 503, reason: "ServiceUnavailable", times: 1),
            ]
            let simulator = try SimulatorProcess(sender, script: script)
            let rows = try sender.makeRows(3_000)
            var text = try String(contentsOfFile: rows, encoding: .utf8)
            let rest = String(
                repeating: ",", count: try #require(text.split(separator: "\n").first).count { $0 == "," })
            text += "\"a\\tb\\\\ü, \"\"c\"\"\"\(rest)\nzz\(rest)\n"
            try text.write(toFile: rows, atomically: true, encoding: .utf8)
            let directory = sender.newRunDirectory()
            let sent = try sender.start(
                rows, to: simulator.port, runDirectory: directory, ["--attempts", "1", "--template", Sender.template])
            #expect(sent.wait(seconds: 60) == .exited(2), "\(sent.errors)")

            let missing = try export(directory)
            #expect(missing.ending == .exited(64) && missing.errors.contains("--create"), "\(missing)")
            let first = try export(directory, "--create")
            #expect(first.ending == .exited(0), "\(first)")
            #expect(first.output == "rows=3002 new=3002 table=\(table)\n")
            try expectEqual(directory)
            let unavailable = try RunResults(directory).count("unavailable")
            #expect(unavailable > 100 && count("count(*) FILTER (WHERE outcome = 'invalid')") == 2)
            #expect(try export(directory).output == "rows=3002 new=0 table=\(table)\n")

            let again = try sender.command(["resume", directory, "--retry-unavailable", "--attempts", "5"])
            #expect(again.ending == .exited(2), "\(again)")
            #expect(try export(directory).output == "rows=\(3002 + unavailable) new=\(unavailable) table=\(table)\n")
            try expectEqual(directory)
            try cluster.query("DELETE FROM \(table) WHERE row % 2 = 0")
            #expect(try export(directory, "--again").ending == .exited(0))
            try expectEqual(directory)

            try cluster.query("ALTER TABLE \(table) DROP COLUMN attempts")
            let lacking = try export(directory)
            #expect(lacking.ending == .exited(64) && lacking.errors.contains("column \"attempts\""), "\(lacking)")
        }

        @Test func `carried columns are in the table, and tokens as digests`() throws {
            let rows = try sender.scratch.write(
                "token,segment\n\(String(repeating: "ab", count: 32)),\"a\\b\tü\"\n", to: "rows.csv")
            let directory = sender.newRunDirectory()
            let sent = try sender.command(
                [
                    "send", "--input", rows, "--template",
                    try sender.scratch.write("{\"aps\":{\"alert\":\"x\"}}", to: "t.json"),
                    "--to", "simulator", "--run-dir", directory, "--result-columns", "segment",
                ])
            #expect(sent.ending == .exited(0), "\(sent)")
            let made = try export(directory, "--create", "--tokens", "digest")
            #expect(made.ending == .exited(0), "\(made)")
            let isRight = try cluster.query(
                """
                SELECT segment = E'a\\\\b\\tü' AND token = encode(sha256('\(String(repeating: "ab", count: 32))'), 'hex') FROM \(table)
                """)
            #expect(isRight == ["t"])
        }

        @Test func `a connection string with a password is refused, and shown nowhere`() throws {
            let directory = try run(rows: try sender.makeRows(1))
            for database in [
                "\(cluster.connection) password=hunter2", "postgresql://me:hunter2@localhost/x", "hunter2 x",
            ] {
                let refused = try sender.command(["export", directory, "--to", database])
                #expect(refused.ending == .exited(64) && !refused.errors.contains("hunter2"), "\(refused)")
            }
            let file = try campaign(try sender.makeRows(1), database: "host=/nowhere password=hunter2")
            let new = sender.newRunDirectory()
            let refused = try sender.command(["run", file, "--run-dir", new])
            #expect(
                refused.ending == .exited(64) && refused.errors.contains("results_to: the connection string"),
                "\(refused)")
            #expect(!refused.errors.contains("hunter2") && !FileManager.default.fileExists(atPath: new))
        }

        @Test func `what the table does not take is told, and nobody says that it is there`() throws {
            let directory = try run(rows: try sender.makeRows(3_000))
            try createTable()
            try cluster.query("CREATE RULE nothing AS ON INSERT TO \(table) DO INSTEAD NOTHING")
            let ruled = try export(directory)
            #expect(ruled.ending == .exited(64) && ruled.errors.contains("INSERT RETURNING"), "\(ruled)")
            #expect(ruled.output.isEmpty && count() == 0)
            // A run that begins is told before the first push.
            let new = sender.newRunDirectory()
            let file = try campaign(try sender.makeRows(1), database: cluster.connection)
            #expect(try sender.command(["run", file, "--run-dir", new]).ending == .exited(64))
            #expect(!FileManager.default.fileExists(atPath: new))
            try cluster.query("DROP RULE nothing ON \(table)")

            try dropping("IF NEW.row % 3 = 0 THEN RETURN NULL; END IF; RETURN NEW;")
            let dropped = try export(directory)
            #expect(dropped.ending == .exited(64) && dropped.output.isEmpty, "\(dropped)")
            #expect(dropped.errors.contains("table \(table): it did not take 1,000 of 3,000 rows"), "\(dropped)")
            #expect(count() == 0)
            // Rows that are there already count as taken.
            try cluster.query("DROP TRIGGER dropping ON \(table)")
            #expect(try export(directory).output == "rows=3000 new=3000 table=\(table)\n")
            #expect(try export(directory, "--again").output == "rows=3000 new=0 table=\(table)\n")
            try cluster.query("DELETE FROM \(table) WHERE row <= 7")
            #expect(try export(directory, "--again").output == "rows=3000 new=7 table=\(table)\n")
            try dropping("RETURN NULL;")
            #expect(try export(directory, "--again").ending == .exited(0))
            try expectEqual(directory)
        }

        @Test func `a table without its primary key is refused with what is missing`() throws {
            let directory = try run(rows: try sender.makeRows(5))
            try createTable()
            try cluster.query("ALTER TABLE \(table) DROP CONSTRAINT \(table)_pkey")
            let refused = try export(directory)
            #expect(refused.ending == .exited(64), "\(refused)")
            #expect(
                refused.errors.contains("the table has no primary key of the columns campaign, run and row"),
                "\(refused)")
        }

        @Test func `a run whose table drops results ends with exit code 2, and says how many are missing`() throws {
            try createTable()
            try dropping("RETURN NULL;")
            let file = try campaign(try sender.makeRows(500), database: cluster.connection, "export_patience: 3")
            let sent = try sender.command(["run", file, "--run-dir", sender.newRunDirectory()])
            #expect(sent.ending == .exited(2) && sent.errors.contains("export: 500 rows not written"), "\(sent)")
            #expect(sent.errors.contains("it did not take 500 of 500 rows"), "\(sent)")
        }

        @Test func `three exports of one run at once write each row once, and never go back`() throws {
            let rows = 45_000
            let directory = try run(rows: try sender.makeRows(rows))
            try createTable()
            try slowDown()
            try cluster.query(
                """
                CREATE TABLE places_\(table) (number serial, place bigint, rows bigint);
                CREATE OR REPLACE FUNCTION note_\(table)() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN INSERT INTO places_\(table) (place, rows) VALUES (NEW.ledger_offset, NEW.rows); RETURN NULL; END $$;
                CREATE TRIGGER note AFTER UPDATE ON apns_batch_offset FOR EACH ROW EXECUTE FUNCTION note_\(table)()
                """)
            defer { _ = try? cluster.query("DROP TRIGGER note ON apns_batch_offset") }
            func exporter() throws -> Child {
                try Child(
                    Tools.command, ["export", directory, "--to", cluster.connection, "--table", table], name: "export",
                    in: sender.scratch)
            }
            let first = try exporter()
            // The others begin while it is in a transaction, so that they find that it was faster.
            try #require(
                eventually(seconds: 60) {
                    (try? cluster.query("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'")) == ["1"]
                })
            let exporters = try [first, exporter(), exporter()]
            var added = 0
            for exporter in exporters {
                #expect(exporter.wait(seconds: 120) == .exited(0), "\(exporter.errors)")
                let new = exporter.output.firstMatch(of: #/ new=([0-9]+) /#).flatMap { Int($0.output.1) }
                added += try #require(new, "\(exporter.output)")
            }
            #expect(added == rows)
            try expectEqual(directory)
            expectOnce(rows)
            let places = try cluster.query("SELECT place FROM places_\(table) ORDER BY number").compactMap { Int($0) }
            #expect(places.count >= 4 && zip(places, places.dropFirst()).allSatisfy { $0 < $1 }, "\(places)")
        }

        @Test func `rows that are to be sent again are in no table until they have their outcome`() throws {
            let script = Script(
                seed: 7, rules: [.init(share: 0.3, status: 503, reason: "ServiceUnavailable", times: 1)])
            let simulator = try SimulatorProcess(sender, script: script)
            let directory = sender.newRunDirectory()
            let sent = try sender.start(
                try sender.makeRows(1_000), to: simulator.port, runDirectory: directory,
                ["--attempts", "1", "--template", Sender.template])
            #expect(sent.wait(seconds: 60) == .exited(2), "\(sent.errors)")
            let unavailable = try RunResults(directory).count("unavailable")
            try #require(unavailable > 100)
            _ = try simulator.stop()
            // Nobody listens any more: the rows are opened again, and get no outcome.
            let again = try sender.command(
                ["resume", directory, "--retry-unavailable", "--connect-patience", "1"])
            #expect(again.ending == .exited(69), "\(again)")
            try createTable()
            // Outcomes and the record that takes them back are in one transaction.
            #expect(try export(directory).ending == .exited(0))
            #expect(count("count(*) FILTER (WHERE outcome = 'unavailable')") == 0)
            #expect(count() == 1_000 - unavailable)
            try expectEqual(directory, isComplete: false)
        }

        @Test func `rows that somebody has changed are what they were after an export that reads all results again`()
            throws
        {
            let directory = try run(rows: try sender.makeRows(500))
            try createTable()
            #expect(try export(directory).ending == .exited(0))
            try cluster.query(
                "UPDATE \(table) SET outcome = 'rejected', status = 410, reason = 'Unregistered' WHERE row % 5 = 0")
            #expect(count("count(*) FILTER (WHERE outcome = 'rejected')") == 100)
            #expect(try export(directory).ending == .exited(0))
            #expect(count("count(*) FILTER (WHERE outcome = 'rejected')") == 100)
            #expect(try export(directory, "--again").ending == .exited(0))
            try expectEqual(directory)
        }

        @Test func `texts are in the table as they were, and messages of the server are escaped`() throws {
            let token = String(repeating: "ab", count: 32)
            let rows = try sender.scratch.write("token,n\n\(token),\"=1\u{1B}[2J\n\u{202E}\"\n", to: "rows.csv")
            let directory = sender.newRunDirectory()
            let template = try sender.scratch.write("{\"aps\":{\"alert\":\"x\"}}", to: "t.json")
            let sent = try sender.command(
                [
                    "send", "--input", rows, "--template", template, "--to", "simulator", "--run-dir", directory,
                    "--result-columns", "n",
                ])
            #expect(sent.ending == .exited(0), "\(sent)")
            #expect(try export(directory, "--create").ending == .exited(0))
            #expect(try cluster.query("SELECT n = E'=1\\x1b[2J\\n\\u202e' FROM \(table)") == ["t"])
            #expect(
                try String(contentsOfFile: directory + "/results.csv", encoding: .utf8).hasSuffix(
                    #",'=1\u001b[2J\n\u202e"# + "\n"))
            try cluster.query("TRUNCATE \(table); DELETE FROM apns_batch_offset")
            try dropping("RAISE EXCEPTION E'PWN\\x1b[2J\\n2026-11-26T08:00:00.000Z apns-batch: OK: forged\\u202e';")
            let refused = try export(directory)
            #expect(
                refused.errors.contains(#"PWN\u001b[2J\n2026-11-26T08:00:00.000Z apns-batch: OK: forged\u202e"#),
                "\(refused)")
            #expect(!refused.errors.unicodeScalars.contains { $0 == "\u{1B}" || $0 == "\u{202E}" })
        }

        @Test func `after a kill of the server in the middle, a second export completes the table`() throws {
            let directory = try run(rows: try sender.makeRows(50_000))
            try createTable()
            try slowDown()
            let exporter = try Child(
                Tools.command, ["export", directory, "--to", cluster.connection, "--table", table], name: "export",
                in: sender.scratch)
            #expect(eventually(seconds: 30) { count() > 0 })
            try cluster.kill()
            #expect(exporter.wait(seconds: 30) == .exited(69), "\(exporter.errors)")
            try cluster.start()
            let before = count()
            #expect(1..<50_000 ~= before)
            try cluster.query("DROP TRIGGER slow ON \(table)")
            #expect(try export(directory).output == "rows=50000 new=\(50_000 - before) table=\(table)\n")
            expectOnce(50_000)
        }

        @Test func `after a kill of the exporter in the middle, a second export completes the table`() throws {
            let directory = try run(rows: try sender.makeRows(50_000))
            try createTable()
            try slowDown()
            let exporter = try Child(
                Tools.command, ["export", directory, "--to", cluster.connection, "--table", table], name: "export",
                in: sender.scratch)
            #expect(eventually(seconds: 30) { count() > 0 })
            #expect(exporter.stop(SIGKILL) == .killed(bySignal: SIGKILL))
            #expect(count() < 50_000)
            // The server may still be in the transaction of the connection that is gone; the second export waits for it.
            #expect(try export(directory).ending == .exited(0))
            expectOnce(50_000)
        }

        @Test func `without its database a run sends all rows, says what is left, and is exported later`() throws {
            let rows = try sender.makeRows(2_000)
            let file = try campaign(rows, database: "host=/nowhere", "export_patience: 1")
            let directory = sender.newRunDirectory()
            let sent = try sender.command(["run", file, "--run-dir", directory])
            #expect(sent.ending == .exited(2), "\(sent)")
            #expect(sent.errors.contains("warning: results_to: table \(table): "), "\(sent)")
            #expect(sent.errors.contains("export: 2,000 rows not written; apns-batch export \(directory)"), "\(sent)")
            #expect(sent.output.contains("accepted=2000"), "\(sent)")
            #expect(try export(directory, "--create").ending == .exited(0))
            expectOnce(2_000)
            #expect(try cluster.query("SELECT DISTINCT campaign FROM \(table)") == ["nightly"])
        }

        @Test func `a table that cannot take the results is refused before the first push`() throws {
            try createTable()
            try cluster.query("ALTER TABLE \(table) DROP COLUMN reason")
            let file = try campaign(try sender.makeRows(1), database: cluster.connection)
            let directory = sender.newRunDirectory()
            let refused = try sender.command(["run", file, "--run-dir", directory])
            #expect(refused.ending == .exited(64) && refused.errors.contains("campaign.yaml:5:"), "\(refused)")
            #expect(refused.errors.contains("column \"reason\""), "\(refused)")
            #expect(!FileManager.default.fileExists(atPath: directory))
        }

        @Test func `a run is followed while server and sender are killed, and each row is in the table once`() throws {
            try createTable()
            let rows = try sender.makeRows(12_000)
            let file = try campaign(rows, database: cluster.connection, "rate: 3000/s")
            let directory = sender.newRunDirectory()
            let first = try Child(
                Tools.command, ["run", file, "--run-dir", directory], name: "run", in: sender.scratch)
            #expect(eventually(seconds: 30) { count() > 0 })
            #expect(first.stop(SIGKILL) == .killed(bySignal: SIGKILL))
            #expect(count() < 12_000)
            let second = try Child(
                Tools.command, ["run", file, "--run-dir", directory], name: "run", in: sender.scratch)
            let before = count()
            #expect(eventually(seconds: 30) { count() > before })
            try cluster.kill()
            #expect(!second.isOver)
            try cluster.start()
            #expect(second.wait(seconds: 60) == .exited(0), "\(second.errors)")
            try expectEqual(directory)
            expectOnce(12_000)
        }
    }
}
