import Foundation
import Testing

extension EndToEnd {
    /// Tests of campaign files as a whole: all faults at once, and the JSON schema for editors.
    @Suite struct CampaignFiles {
        @Test func `all faults are told at once, each with its place and what was probably meant`() throws {
            let sender = try Sender()
            let file = try sender.scratch.write(
                """
                topic: a.b
                to: prodution
                key_fil: x
                lanes: two
                attempts: 0
                spool: alway
                timezone: Europe/Berln
                loop: epol
                push_type: alrt
                on_complete: ["mail -s x", me]
                template: ~/x.json
                encryption: { keys: [a], cipher: aes-256-gmc }
                webhooks: [{ url_file: a, secret_file: b, events: [completed, faild] }]

                """, to: "c.yaml")
            let finished = try sender.command(["render", file])
            #expect(finished.ending == .exited(64) && finished.output.isEmpty, "\(finished)")
            let lines = finished.errors.split(separator: "\n").map {
                $0.replacing("apns-batch: \(file):", with: "").prefix { $0 != "," }
            }
            let all = finished.errors
            #expect(
                lines == [
                    "2:5: to: expected production", "3:1: unknown key \"key_fil\"; did you mean key_file?",
                    "4:8: lanes: expected a whole number", "5:11: attempts: expected 1 to 1000",
                    "6:8: spool: expected auto", "7:11: timezone: expected a time zone such as Europe/Berlin",
                    "8:7: loop: expected automatic", "9:12: push_type: expected alert",
                    "10:14: on_complete: expected a program and its arguments", "11:11: template: expected a path",
                    "12:34: encryption.cipher: expected aes-256-gcm or aes-256-cbc",
                    "13:63: webhooks[0].events[1]: expected \(Self.events(in: all))",
                ], "\(finished)")
            for hint in ["production?", "always?", "Europe/Berlin?", "epoll?", "alert?", "aes-256-gcm?", "failed?"] {
                #expect(all.contains("; did you mean \(hint)\n"), "\(hint): \(finished)")
            }
            #expect(all.contains(": write [mail, -s, x, me]\n"), "\(finished)")
            #expect(all.contains("neither ~ nor variables are replaced: write the whole path\n"), "\(finished)")
        }

        /// The first word of the list of events.
        private static func events(in errors: String) -> Substring {
            errors.firstMatch(of: #/events\[1\]: expected (\w+)/#)?.output.1 ?? ""
        }

        @Test func `faults of values alone are told at once, in the order of their lines`() throws {
            let sender = try Sender()
            let file = try sender.scratch.write(
                "\u{FEFF}\u{FEFF}rate: fast\nattempts: 0\nnot_after: never again\n", to: "c.yaml")
            let finished = try sender.command(["render", file, "--input", try sender.makeRows(1)])
            #expect(finished.ending == .exited(64), "\(finished)")
            let starts = finished.errors.split(separator: "\n").map { $0.split(separator: " ")[1] }
            #expect(starts == ["\(file):1:7:", "\(file):2:11:", "\(file):3:12:"].map { $0[...] }, "\(finished)")
        }

        @Test func `faults of columns are told at once, each with its place in the campaign file`() throws {
            let sender = try Sender()
            let file = try sender.scratch.write(
                "result_columns: [nope]\nreport_by: [x]\ncollapse_id: '{{nope}}'\ntopic: a b\ntemplate: '\(Sender.template)'\n",
                to: "c.yaml")
            let finished = try sender.command(["check", file, "--input", try sender.makeRows(1)])
            #expect(finished.ending == .exited(64), "\(finished)")
            let starts = finished.errors.split(separator: "\n").map { $0.split(separator: " ").prefix(3).dropFirst() }
            #expect(
                starts.map { $0.joined(separator: " ") } == [
                    "\(file):1:17: result_columns:", "\(file):2:12: report_by:", "\(file):3:14: collapse_id:",
                    "\(file):4:8: topic:",
                ], "\(finished)")
        }

        @Test func `faults of flags are told at once`() throws {
            let finished = try Sender().command(["render", "--loop", "epol", "--to", "x", "--template", "~/a.json"])
            #expect(finished.ending == .exited(64), "\(finished)")
            #expect(
                finished.errors.contains(
                    "--loop: expected automatic, io_uring or epoll, found \"epol\"; did you mean epoll?\n")
                    && finished.errors.contains("--template: expected a path, found \"~/a.json\""), "\(finished)")
        }

        @Test func `a pattern without quotes is named as one`() throws {
            let sender = try Sender()
            let file = try sender.scratch.write("to: production\ninput: *.csv\n", to: "c.yaml")
            let finished = try sender.command(["render", file])
            #expect(finished.ending == .exited(64), "\(finished)")
            #expect(finished.errors.hasPrefix("apns-batch: \(file):2:"), "\(finished)")
            #expect(finished.errors.contains("a value that begins with * must be in quotes"), "\(finished)")
        }

        /// Returns the messages about a campaign file, without its name.
        private static func faults(in bytes: Data) throws -> [String] {
            let sender = try Sender()
            let file = sender.scratch.path("c.yaml")
            try bytes.write(to: URL(filePath: file))
            let finished = try sender.command(["render", file, "--input", try sender.makeRows(1)])
            #expect(finished.ending == .exited(64), "\(finished)")
            return finished.errors.split(separator: "\n").map {
                String($0).replacing("apns-batch: \(file)", with: "")
            }
        }

        @Test(arguments: [
            (
                "topic: a.b\nrate: fast\n'topic': c.d\nlanes: two\ntopic: e.f\nstop_at:\n  any: 5%\n  any: 6%\n",
                [
                    ":2:7: rate: expected a rate such as 2000/s, 120000/min or 3000000/h, found \"fast\"",
                    ":3:1: topic: is given twice, first in line 1",
                    ":4:8: lanes: expected a whole number, found \"two\"",
                    ":5:1: topic: is given twice, first in line 1",
                    ":8:3: any: is given twice, first in line 7",
                ]
            )
        ])
        func `what cannot be meant has its place and one line`(yaml: String, expected: [String]) throws {
            #expect(try Self.faults(in: Data(yaml.utf8)) == expected)
        }

        // MARK: Schema

        private static func schema(in scratch: Scratch) throws -> String {
            let made = try Child.run(
                Tools.command, ["reference", "--schema"], name: "schema", in: scratch, seconds: 60)
            #expect(made.ending == .exited(0), "\(made)")
            return try scratch.write(made.output, to: "campaign.schema.json")
        }

        private static func faults(of files: [String], in scratch: Scratch) throws -> (count: Int, faults: [String]) {
            let arguments = [Tools.peer("check_schema.py"), try schema(in: scratch)] + files
            let output = try prepare(Tools.python, arguments, in: scratch)
            let lines = output.split(separator: "\n").map(String.init)
            return (Int(lines.last ?? "") ?? 0, Array(lines.dropLast()))
        }

        @Test func `the schema has the keys of the table of settings, and refuses others`() throws {
            let sender = try Sender()
            let text = try String(contentsOfFile: try Self.schema(in: sender.scratch), encoding: .utf8)
            let schema = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
            let properties = try #require(schema["properties"] as? [String: [String: Any]])
            let table = try sender.command(["reference", "--settings"]).output
            let keys = table.matches(of: #/\n\| `(\w+)` /#).map { String($0.output.1) }
            #expect(Set(properties.keys) == Set(keys) && schema["additionalProperties"] as? Bool == false)
            #expect(properties.values.allSatisfy { !($0["description"] as? String ?? "").isEmpty })
        }

        @Test func `every example campaign is valid by the schema`() throws {
            let root = Tools.root.path
            let files = [
                "README.md", "docs/guide/credentials.md", "docs/guide/every-night.md", "docs/guide/expectations.md",
                "docs/guide/first-night.md", "docs/guide/input.md", "docs/guide/migration.md",
                "docs/guide/rate-and-limits.md", "docs/guide/templates.md", "docs/integrate/duckdb.md",
                "docs/integrate/monitoring.md", "docs/integrate/postgresql.md", "docs/integrate/webhooks.md",
                "docs/reference/settings.md", "docs/reference/report.md", "docs/integrate/spark.md",
                "examples/systemd/nightly.yaml", "examples/sealed/campaign.yaml", "examples/spark/campaign.yaml",
            ]
            let (count, faults) = try Self.faults(of: files.map { "\(root)/\($0)" }, in: try Scratch())
            #expect(faults == [] && count >= 15, "\(count) campaigns")
        }

        @Test(arguments: [
            "key_fil: x", "lanes: 0", "lanes: two", "spool: alway", "push_type: alrt", "strings: App", "stop_at: 5%",
            "encryption: { cipher: aes }", "webhooks: [{ event: [] }]", "result_columns: [[a]]",
            "columns: [a]", "columns: { token: [a] }", "only: { a: { b: c } }",
        ])
        func `what the command refuses, the schema refuses`(yaml: String) throws {
            let sender = try Sender()
            let file = try sender.scratch.write(yaml + "\n", to: "c.yaml")
            #expect(try Self.faults(of: [file], in: sender.scratch).faults.count == 1)
            #expect(try sender.command(["render", file, "--input", try sender.makeRows(1)]).ending == .exited(64))
        }
    }
}
