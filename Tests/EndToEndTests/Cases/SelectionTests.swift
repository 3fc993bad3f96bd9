import Foundation
import Testing

extension EndToEndRuns {
    /// `columns` and `only`, with the command.
    @Suite struct Selecting {
        private static let settings = """
            columns: { token: Address, user: User.UserId }
            only: { ChannelType: [APNS, APNS_SANDBOX], OptOut: NONE }
            result_columns: [user]
            """

        private static func token(_ number: Int) -> String { String(format: "%064x", number) }

        private static func line(_ number: Int) -> String {
            let channel = number % 2 == 0 ? "APNS" : "EMAIL"
            let address = number % 2 == 0 ? token(number) : "user-\(number)@example.com"
            return
                #"{"ChannelType":"\#(channel)","Address":"\#(address)","OptOut":"NONE","User":{"UserId":"u\#(number)"}}"#
        }

        private func campaign(_ sender: Sender, _ more: String = settings, template: String? = nil) throws -> String {
            let template = try sender.scratch.write(template ?? #"{"aps":{"alert":"Hi {{user}}"}}"#, to: "t.json")
            return try sender.scratch.write("template: \(template)\nexpiration: 1h\n\(more)\n", to: "select.yaml")
        }

        private func input(_ sender: Sender, _ rows: Int) throws -> String {
            try sender.scratch.write((1...rows).map { Self.line($0) + "\n" }.joined(), to: "endpoints.json")
        }

        /// Nine of ten rows would be invalid, so that the input would be broken as a whole.
        @Test func `rows that are left out do not count as invalid ones`() throws {
            let sender = try Sender()
            let lines = (1...500).map { Self.line($0 % 10 == 0 ? $0 : $0 * 2 + 1) + "\n" }
            let input = try sender.scratch.write(lines.joined(), to: "mixed.json")
            let directory = sender.newRunDirectory()
            let settings = Self.settings.replacing("\nresult_columns: [user]", with: "")
            let sent = try sender.command(
                ["send", try campaign(sender, settings), "--input", input, "--to", "simulator", "--run-dir", directory])
            #expect(sent.ending == .exited(0), "\(sent)")
            let results = try RunResults(directory)
            #expect(results.count("accepted") == 50 && results.count("suppressed") == 450)
        }

        @Test func `rows that are not selected stay suppressed over kills, and are counted once`() throws {
            let sender = try Sender()
            let latency = "{ distribution: uniform, min_ms: 10, max_ms: 30 }"
            let simulator = try SimulatorProcess(sender, script: Script(seed: 3, rules: [], latency: latency))
            let rows = 20_000
            let directory = sender.newRunDirectory()
            let arguments = Sender.replacing(
                [
                    "send", try campaign(sender), "--input", try input(sender, rows), "--to",
                    "localhost:\(simulator.port)",
                    "--run-dir", directory, "--connections", "1", "--on-unknown", "report",
                ] + sender.credentials.flags)
            var process = try Child(Tools.command, arguments, name: "send", in: sender.scratch)
            for _ in 0..<3 {
                let before = (try? String(contentsOfFile: directory + "/results.csv", encoding: .utf8))?.utf8.count ?? 0
                _ = eventually(seconds: 60) {
                    let now =
                        (try? String(contentsOfFile: directory + "/results.csv", encoding: .utf8))?.utf8.count ?? 0
                    return process.isOver || now > before + 50_000
                }
                process.stop(SIGKILL)
                process = try Child(Tools.command, ["resume", directory], name: "resume", in: sender.scratch)
            }
            let ending = process.wait(seconds: 300)
            #expect(ending == .exited(0) || ending == .exited(2), "\(ending): \(process.errors)")
            let text = try String(contentsOfFile: directory + "/results.csv", encoding: .utf8).split(separator: "\n")
                .dropFirst()
            var seen: Set<Int> = []
            var suppressed = 0
            for line in text {
                let fields = line.split(separator: ",", omittingEmptySubsequences: false)
                let row = try #require(Int(fields[0]))
                #expect(seen.insert(row).inserted && fields.last == "u\(row)")
                guard row % 2 == 1 else {
                    #expect(["accepted", "unknown"].contains(fields[2]), "\(fields[2])")
                    continue
                }
                suppressed += 1
                #expect(fields[2] == "suppressed" && fields[4] == "NotSelected" && fields[7] == "0", "row \(row)")
            }
            #expect(seen.count == rows && suppressed == rows / 2)
            let data = try Data(contentsOf: URL(filePath: directory + "/summary.json"))
            let summary = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
            #expect((summary["suppressed"] as? Int, summary["rows"] as? Int) == (rows / 2, rows))
            let status = try sender.command(["status", directory])
            #expect(status.output.contains("suppressed"), "\(status)")
            let report = try String(contentsOfFile: directory + "/report.txt", encoding: .utf8)
            #expect(report.contains("suppressed") && report.contains("10,000"), "\(report)")
            #expect(try simulator.stop().keys.allSatisfy { !$0.contains("@") })
        }

        @Test func `check, render and send agree on the rows that are left out`() throws {
            let sender = try Sender()
            let (file, rows) = (try campaign(sender), try input(sender, 10))
            let flags = ["--input", rows, "--to", "simulator"]
            let check = try sender.command(["check", file, "--findings", sender.scratch.path("f.csv")] + flags)
            #expect(check.ending == .exited(0), "\(check)")
            #expect(check.output.contains("rows=10 good=5 bad=0 not_selected=5 with_warnings=0"), "\(check)")
            let render = try sender.command(["render", file, "--json"] + flags)
            #expect(render.ending == .exited(0) && render.outputLines.count == 5, "\(render)")
            let one = try sender.command(["render", file, "--row", "1"] + flags)
            #expect(one.ending == .exited(64) && one.errors.contains("only or from_row leaves it out"), "\(one)")
            let sent = try sender.command(["send", file, "--run-dir", sender.newRunDirectory()] + flags)
            #expect(sent.ending == .exited(0) && sent.output.contains("rows=10 accepted=5"), "\(sent)")
            #expect(sent.output.contains("suppressed=5 "), "\(sent)")
        }

        @Test func `a campaign that selects nothing says so`() throws {
            let sender = try Sender()
            let file = try campaign(sender, "columns: { token: Address, user: Id }\nonly: { Id: x }")
            let rows = try sender.scratch.write("Address,Id\n\(Self.token(1)),u\n", to: "rows.csv")
            let flags = ["--input", rows, "--to", "simulator"]
            let check = try sender.command(["check", file, "--findings", sender.scratch.path("f.csv")] + flags)
            #expect(
                check.ending == .exited(2) && check.errors.contains("only and from_row leave out all of 1 rows"),
                "\(check)")
            let sent = try sender.command(["send", file, "--run-dir", sender.newRunDirectory()] + flags)
            #expect(
                sent.ending == .exited(2) && sent.output.contains("only and from_row leave these rows out"), "\(sent)")
        }

        @Test(arguments: [
            ("columns: { token: Adress, user: User.UserId }", #"select.yaml:3:10: columns: "#),
            ("columns: { token: Address }", #"t.json:1:21: unknown column "user""#),
        ])
        func `what is wrong is said with its place, and nothing is sent`(settings: String, error: String) throws {
            let sender = try Sender()
            let file = try campaign(sender, settings)
            for command in ["check", "render", "send"] {
                let more = command == "send" ? ["--run-dir", sender.newRunDirectory()] : []
                let finished = try sender.command(
                    [command, file, "--input", try input(sender, 3), "--to", "simulator"] + more)
                #expect(finished.ending == .exited(64) && finished.errors.contains(error), "\(finished)")
            }
        }

        @Test func `a copy of a campaign for other machines has both`() throws {
            let sender = try Sender()
            let copy = try sender.command(["copy-campaign", try campaign(sender), sender.scratch.path("copy")])
            #expect(copy.ending == .exited(0), "\(copy)")
            let text = try sender.scratch.read("copy/campaign.yaml")
            #expect(
                text.contains("\"UserId\"") == false && text.contains("User.UserId") && text.contains("APNS_SANDBOX"))
        }

        @Test func `NDJSON of a pipe is judged by its first rows, and all of them are sent`() throws {
            let sender = try Sender()
            let file = try campaign(sender)
            let rows = try input(sender, 3000)
            let sent = try Child.run(
                "/bin/sh",
                [
                    "-c",
                    "cat '\(rows)' | '\(Tools.command)' send '\(file)' --input - --to simulator --spool never --run-dir '\(sender.newRunDirectory())'",
                ], name: "pipe", in: sender.scratch, seconds: 120)
            #expect(sent.ending == .exited(0) && sent.output.contains("rows=3000 accepted=1500"), "\(sent)")
        }
    }
}
