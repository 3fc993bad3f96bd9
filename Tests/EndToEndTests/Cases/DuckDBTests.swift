import APNSBatchTestSupport
import Foundation
import Testing

extension EndToEndRuns {
    /// Tests of rows from a query of DuckDB. A program in its place does what it would do; tests that need the real one are skipped
    /// where PATH has none (pip install duckdb-cli).
    @Suite struct DuckDBQueries {
        let sender: Sender

        init() throws { sender = try Sender() }

        static let isInstalled: Bool = {
            guard let scratch = try? Scratch() else { return false }
            let asked = try? Child.run("sh", ["-c", "command -v duckdb"], name: "search", in: scratch)
            return asked?.ending == .exited(0)
        }()

        /// Writes a campaign file.
        private func campaign(_ query: String, _ more: String = "", port: UInt16 = 1, template: String? = nil) throws
            -> String
        {
            _ = try sender.scratch.write(query, to: "recipients.sql")
            let plain = #"{"aps":{"alert":"Hi {{first_name}}"}}"#
            let template = try sender.scratch.write(template ?? plain, to: "t.json")
            return try sender.scratch.write(
                """
                input_query: { engine: duckdb, file: recipients.sql\(more) }
                template: "\(template)"
                topic: com.example.app
                to: localhost:\(port)
                """, to: "campaign.yaml")
        }

        /// Writes a program in place of DuckDB, and returns the setting that names it.
        private func standIn(version: String, _ body: String = "exit 1") throws -> String {
            let file = try sender.scratch.write(
                """
                if [ "$1" = --version ]; then echo '\(version)'; exit 0; fi
                \(body)
                """, to: "duckdb-\(sender.scratch.nextNumber()).sh")
            return ", program: [sh, \"\(file)\"]"
        }

        private func render(_ file: String) throws -> Finished {
            try sender.command(["render", file, "--rows", "0", "--json"] + sender.credentials.flags)
        }

        @Test func `a program that is missing, is another one or is too old: exit code 64 with what to do`() throws {
            let missing = ", program: [/nowhere/duckdb]"
            for (setting, says) in [
                (missing, "install DuckDB 1.4 or later"),
                (try standIn(version: "psql (PostgreSQL) 15.9"), "is not the program of DuckDB"),
                (try standIn(version: "v1.3.9 (Ossivalis) 0123456789"), "is DuckDB 1.3, and 1.4 is the first"),
                (try standIn(version: "v0.10.2 1601d94f94"), "is DuckDB 0.10, and 1.4 is the first"),
            ] {
                let refused = try sender.command(["check", try campaign("SELECT 1 AS token", setting)])
                #expect(refused.ending == .exited(64) && refused.errors.contains(says), "\(refused)")
                #expect(refused.errors.contains("input_query: \""), "\(refused)")
            }
        }

        @Test func `keys of the other engine are refused`() throws {
            let file = try sender.scratch.write(
                "input_query: { database: service=x, query: SELECT 1, setup: [LOAD x] }\nto: simulator\n", to: "c.yaml")
            let refused = try sender.command(["check", file])
            #expect(refused.ending == .exited(64) && refused.errors.contains("they need engine: duckdb"), "\(refused)")
        }

        @Test func `the program gets the query, and what setup prints is no row`() throws {
            let program = try standIn(
                version: "v2.0.1 (Name) 0123456789",
                """
                for argument; do printf '%s|' "$argument" >> '\(sender.scratch.path("arguments"))'; done
                echo '{"token":"\(String(repeating: "a", count: 64))","first_name":"Ann"}'
                """)
            let more = "\(program), setup: [LOAD httpfs], database: warehouse.duckdb"
            let rendered = try render(try campaign("SELECT token -- all\n;\n", more))
            #expect(rendered.ending == .exited(0) && rendered.outputLines.count == 1, "\(rendered)")
            let arguments = try String(contentsOfFile: sender.scratch.path("arguments"), encoding: .utf8)
            #expect(
                arguments.hasPrefix(
                    "-init|/dev/null|-bail|-readonly|warehouse.duckdb|-c|.output /dev/null|-c|LOAD httpfs|-c|COPY (SELECT token -- all\n) TO "
                ), "\(arguments)")
            // Without it, DuckDB may put a file in the place of /dev/stdout.
            #expect(arguments.hasSuffix("TO '/dev/stdout' (FORMAT json, USE_TMP_FILE false)|"), "\(arguments)")
        }

        @Test func `a program that dies after good rows: exit code 75, and nothing was sent`() throws {
            let row = "echo '{\"token\":\"\(String(repeating: "b", count: 64))\",\"first_name\":\"Ann\"}'"
            for ending in ["exit 1", "kill -9 $$"] {
                let simulator = try SimulatorProcess(sender)
                let program = try standIn(version: "v1.4.0 (Andium) 0", "\(row)\n\(row)\n\(ending)")
                let file = try campaign("SELECT token", program, port: simulator.port)
                let failed = try sender.command(
                    ["run", file, "--run-dir", sender.newRunDirectory()] + sender.credentials.flags)
                #expect(failed.ending == .exited(75) && failed.errors.contains("; nothing was sent"), "\(failed)")
                #expect(try simulator.stop().isEmpty)
            }
        }

        @Test(.enabled(if: DuckDBQueries.isInstalled, "there is no duckdb in PATH"))
        func `values of DuckDB keep their types`() throws {
            let template = #"""
                {"aps":{"alert":"{{name}}"},"vip":"{{vip:bool}}","count":"{{n:number}}","tags":"{{tags:json}}","at":"{{pair:json}}"}
                """#
            let query = """
                SELECT repeat('ab', 32) AS token, 'Zoë "x"' AS name, true AS vip, 7 AS n, ['a', 'b'] AS tags, {'k': 1} AS pair,
                       TIMESTAMPTZ '2099-01-02 03:04:05.5+01' AS expiration -- the end
                """
            let rendered = try render(try campaign(query, template: template))
            #expect(rendered.ending == .exited(0), "\(rendered)")
            for part in [#""vip":true"#, #""count":7"#, #""tags":["a","b"]"#, #""at":{"k":1}"#, #""4071002645""#] {
                let plain = rendered.output.replacing("\\\"", with: "\"")
                #expect(plain.contains(part), "\(part): \(rendered.output)")
            }
        }

        @Test(.enabled(if: DuckDBQueries.isInstalled, "there is no duckdb in PATH"))
        func `a query of DuckDB that fails after 200,000 rows sends nothing`() throws {
            let simulator = try SimulatorProcess(sender)
            let query = """
                SELECT repeat('ab', 32) AS token, CASE WHEN i = 200000 THEN error('broken') ELSE 'Ann' END AS first_name
                  FROM range(300000) AS t (i)
                """
            let failed = try sender.command(
                ["run", try campaign(query, port: simulator.port), "--run-dir", sender.newRunDirectory()]
                    + sender.credentials.flags)
            #expect(failed.ending == .exited(75) && failed.errors.contains("; nothing was sent"), "\(failed)")
            #expect(try simulator.stop().isEmpty)
        }
    }
}
