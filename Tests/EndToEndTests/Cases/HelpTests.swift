import Foundation
import Testing

extension EndToEnd {
    /// Tests of the help, which must fit terminals of 80 columns, and whose examples must work when they are pasted.
    @Suite struct Help {
        private static let commands = [
            [], ["run"], ["send"], ["check"], ["render"], ["broadcast"], ["channels"], ["doctor"], ["runs"], ["export"],
            ["notify"],
            ["provider-token"], ["copy-campaign"],
            ["simulate"],
            ["reference"],
        ]

        @Test(arguments: commands)
        func `examples are not wrapped`(command: [String]) throws {
            let finished = try Child.run(
                Tools.command, command + ["--help"], name: "help", in: try Scratch(), seconds: 30)
            #expect(finished.ending == .exited(0), "\(finished)")
            let lines = finished.output.split(separator: "\n", omittingEmptySubsequences: false)
            let start = try #require(lines.firstIndex { $0 == "Examples:" || $0 == "Example:" }, "\(finished.output)")
            let examples = lines[(start + 1)...].prefix { !$0.isEmpty }
            #expect(!examples.isEmpty && examples.allSatisfy { $0.hasPrefix("  ") && $0.count <= 80 }, "\(examples)")
        }

        @Test func `no line of any help is longer than 80 columns`() throws {
            let scratch = try Scratch()
            func help(_ command: [String]) throws -> [Substring] {
                let finished = try Child.run(
                    Tools.command, command + ["--help"], name: "help", in: scratch, seconds: 30)
                #expect(finished.ending == .exited(0), "\(finished)")
                return finished.output.split(separator: "\n")
            }
            let overview = try help([])
            let start = try #require(overview.firstIndex(of: "SUBCOMMANDS:"))
            let names = overview[(start + 1)...].compactMap {
                $0.firstMatch(of: #/^  ([a-z-]+) /#).map { String($0.output.1) }
            }
            #expect(names.count > 15)
            for name in names {
                let long = try help([name]).filter { $0.count > 80 }
                #expect(long.isEmpty, "\(name): \(long)")
            }
            #expect(overview.allSatisfy { $0.count <= 80 && $0 != "/proc." && $0 != "could" }, "\(overview)")
        }

        @Test func `docs say of the settings what the command says: apns-batch reference --settings`() throws {
            let finished = try Child.run(
                Tools.command, ["reference", "--settings"], name: "reference", in: try Scratch(), seconds: 30)
            #expect(finished.ending == .exited(0), "\(finished)")
            let docs = URL(filePath: #filePath).deletingLastPathComponent().appending(
                path: "../../../docs/reference/settings.md")
            let parts = try String(contentsOf: docs, encoding: .utf8).components(separatedBy: "settings -->\n")
            #expect(parts.count == 3 && parts[1] == "\n\(finished.output)\n<!-- end of ", "write it anew")
        }

        /// The keys of campaign files are in the first column of the table.
        @Test func `every key of the table is understood, and has a flag of its name unless it is for files only`()
            throws
        {
            let sender = try Sender()
            let table = try sender.command(["reference", "--settings"]).output
            let keys = table.matches(of: #/\n\| `(\w+)` /#).map { String($0.output.1) }
            #expect(keys.count > 50)
            let file = try sender.scratch.write(keys.map { "\($0):\n" }.joined(), to: "campaign.yaml")
            let rendered = try sender.command(["render", file])
            #expect(rendered.errors.hasPrefix("apns-batch: no input"), "\(rendered)")
            let help = try sender.command(["send", "--help-hidden"]).output
            let inFilesOnly = keys.filter { !help.contains("--\($0.replacing("_", with: "-")) <") }
            let expected = [
                "input_command", "input_query", "columns", "only", "templates", "variants", "fallback", "encryption",
                "providers", "results_to", "on_complete", "webhooks",
            ]
            #expect(inFilesOnly == expected)
        }
    }
}
