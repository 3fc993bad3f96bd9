import Foundation
import Testing

extension EndToEnd {
    /// Tests of the flags of all commands.
    @Suite struct Flags {
        private static func run(_ arguments: [String], in scratch: Scratch) throws -> Finished {
            try Child.run(Tools.command, arguments, name: "flags", in: scratch, seconds: 60)
        }

        /// The enumeration of all flags of all commands, from what the parser knows.
        @Test func `every flag that is given twice makes a list, or is refused by its name`() throws {
            let scratch = try Scratch()
            let commands = try ToolDump.read().command.leaves
            #expect(commands.count > 18 && commands.contains { $0.flags.count > 70 })
            for command in commands {
                let twice = command.flags.flatMap { $0.given + $0.given }
                let finished = try Self.run(command.words + command.positional + twice, in: scratch)
                let named = finished.errors.matches(of: #/apns-batch: --([a-z0-9-]+): is given twice/#).map {
                    String($0.output.1)
                }
                let expected = command.flags.filter { !$0.isRepeating }.map(\.name)
                #expect(Set(named) == Set(expected) && named.count == expected.count, "\(command.words): \(finished)")
                #expect(expected.isEmpty || finished.ending == .exited(64), "\(command.words): \(finished)")
            }
        }

        @Test func `a negative number is a value, and the values that there are are named`() throws {
            let scratch = try Scratch()
            let rows = try scratch.write("token\n00aa\n", to: "rows.csv")
            let common = ["--input", rows, "--template", Sender.template, "--topic", "a.b", "--to", "simulator"]
            let finished = try Self.run(["send"] + common + ["--lanes", "-1"], in: scratch)
            #expect(finished.ending == .exited(64), "\(finished)")
            #expect(finished.errors == "apns-batch: --lanes: expected 1 to 256, found -1\n", "\(finished)")
        }

        @Test func `several inputs are sent one after the other, as a list in the campaign file would be`() throws {
            let sender = try Sender()
            let (first, second) = (try sender.makeRows(5), try sender.makeRows(3))
            let arguments = [
                "send", "--input", first, "--input", second, "--template", Sender.template, "--to", "simulator",
                "--expiration", "1h", "--result-columns", "first_name", "--result-columns", "badge",
            ]
            let finished = try Self.run(arguments + ["--run-dir", sender.newRunDirectory()], in: sender.scratch)
            #expect(finished.ending == .exited(0) && finished.output.contains("rows=8 accepted=8 "), "\(finished)")
            let directory = sender.newRunDirectory()
            _ = try Self.run(arguments + ["--run-dir", directory], in: sender.scratch)
            let results = try String(contentsOfFile: directory + "/results.csv", encoding: .utf8)
            #expect(results.prefix { $0 != "\n" }.hasSuffix("first_name,badge"), "\(results.prefix(200))")
        }

        // MARK: Commands

        @Test(arguments: [
            (["sned", "x.yaml"], "unknown command \"sned\"; did you mean send?; see apns-batch -h"),
            ([], "no command: expected one of run, send, "),
        ])
        func `what is no command is an error, and never help and 0`(arguments: [String], message: String) throws {
            let finished = try Self.run(arguments, in: try Scratch())
            #expect(finished.ending == .exited(64) && finished.output.isEmpty, "\(finished)")
            #expect(finished.errors.hasPrefix("apns-batch: \(message)"), "\(finished)")
        }

        @Test func `-h is short: usage, at most ten flags, examples`() throws {
            let scratch = try Scratch()
            for command in [ToolDump.Command(commandName: "")] + (try ToolDump.read().command.leaves) {
                let words = command.words.filter { !$0.isEmpty }
                let finished = try Self.run(words + ["-h"], in: scratch)
                #expect(finished.ending == .exited(0), "\(finished)")
                let lines = finished.output.split(separator: "\n", omittingEmptySubsequences: false)
                #expect(lines.count <= 70 && lines.allSatisfy { $0.count <= 80 }, "\(finished)")
                #expect(lines.contains { $0.hasPrefix("Usage: apns-batch") }, "\(finished)")
                #expect(lines.count { $0.hasPrefix("  --") || $0.hasPrefix("  -") } <= 10, "\(finished)")
                #expect(lines.contains { $0 == "Examples:" || $0 == "Example:" }, "\(finished)")
                #expect(lines.contains { $0.hasSuffix(" --help shows everything.") }, "\(finished)")
            }
        }

        // MARK: Rows

        @Test func `render shows one row by its number`() throws {
            let sender = try Sender()
            let common = [
                "render", "--campaign-id", UUID().uuidString, "--input", try sender.makeRows(9), "--template",
                Sender.template, "--topic",
                "com.example.app",
            ]
            let seventh = try Self.run(common + ["--row", "7"], in: sender.scratch)
            #expect(seventh.ending == .exited(0), "\(seventh)")
            #expect(seventh.outputLines.filter { $0.hasPrefix("# row ") } == ["# row 7"], "\(seventh)")
            let all = try Self.run(common + ["--rows", "0"], in: sender.scratch)
            #expect(all.output.contains(seventh.output), "\(all)")
            for (more, message) in [
                (["--row", "10"], "--row: there is no row 10; the last one is row 9"),
                (["--row", "1", "--rows", "2"], "--row and --rows: give one of them"),
                (["--rows=-1"], "--rows: expected 0 or more, found -1"),
                (["--row", "0"], "--row: expected 1 or more, found 0"),
            ] {
                let finished = try Self.run(common + more, in: sender.scratch)
                #expect(finished.ending == .exited(64) && finished.errors == "apns-batch: \(message)\n", "\(finished)")
            }
        }

        @Test func `an input without rows has no row to show`() throws {
            let scratch = try Scratch()
            let finished = try Self.run(
                [
                    "render", "--input", try scratch.write("token,first_name\n", to: "rows.csv"), "--template",
                    try scratch.write(#"{"aps":{"alert":"Hi {{first_name}}"}}"#, to: "payload.json"), "--row", "1",
                    "--topic", "com.example.app",
                ], in: scratch)
            #expect(finished.ending == .exited(64), "\(finished)")
            #expect(finished.errors == "apns-batch: --row: there is no row 1; the input has no rows\n", "\(finished)")
        }

        @Test func `the table of a campaign is printed before its first run`() throws {
            let scratch = try Scratch()
            let file = try scratch.write(
                "results_to: { database: service=push, table: app.results }\nresult_columns: [segment]\n", to: "c.yaml")
            let finished = try Self.run(["export", file, "--print-sql"], in: scratch)
            #expect(finished.ending == .exited(0), "\(finished)")
            #expect(
                finished.output.contains("app") && finished.output.contains("segment")
                    && finished.output.contains("CREATE TABLE"), "\(finished)")
            let bare = try Self.run(["export", file], in: scratch)
            #expect(bare.ending == .exited(64), "\(bare)")
            #expect(bare.errors.contains("a campaign file has no results: give --create or --print-sql"), "\(bare)")
        }
    }
}
