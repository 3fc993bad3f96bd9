import Foundation
import Testing

extension EndToEndRuns {
    /// Inputs as Spark, MySQL and pandas write them, with backslashes before quotes.
    @Suite struct Escapes {
        private static func token(_ number: Int) -> String { String(format: "%064x", number) }

        struct File: CustomTestStringConvertible {
            let testDescription: String
            let lines: [String]
            /// The place of the backslash that stops the input if nothing is said.
            let place: String
            let texts: [String]

            var content: String {
                var number = 0
                return lines.map { line in
                    number += line.contains("TOKEN") ? 1 : 0
                    return line.replacing("TOKEN", with: Escapes.token(number)) + "\n"
                }.joined()
            }
        }

        private static let files = [
            File(
                testDescription: "Spark",
                lines: ["token,name,text", #"TOKEN,Ann,"say \"hi\"""#, #"TOKEN,"C:\\","{\"a\"}, b""#], place: "2:75",
                texts: [#"Ann: say "hi""#, #"C:\: {"a"}, b"#]),
            File(
                testDescription: "MySQL",
                lines: ["token,name,text", "\"TOKEN\",\"Ann\",\"l1\\", "l2\"", #""TOKEN",\N,"5\"""#], place: "2:77",
                texts: ["Ann: l1\nl2", "there: 5\""]),
            File(
                testDescription: "pandas",
                lines: [#""token","name","text""#, #""TOKEN","Ann","a\\\"b""#, #""TOKEN","\"\"","x""#], place: "2:78",
                texts: [#"Ann: a\"b"#, "\"\": x"]),
        ]

        private static func template(_ sender: Sender) throws -> [String] {
            ["--template", try sender.scratch.write(#"{"aps":{"alert":"{{name|there}}: {{text}}"}}"#, to: "t.json")]
        }

        @Test(arguments: files) func `what programs write is refused, and read as it was meant`(file: File) throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let input = try sender.scratch.write(file.content, to: "rows.csv")
            let template = try Self.template(sender)
            let directory = sender.newRunDirectory()
            for command in [
                ["check", "--input", input, "--topic", TestCredentials.topic, "--expiration", "1h"] + template,
                sender.arguments(input, to: simulator.port, runDirectory: directory, template),
            ] {
                let refused = try sender.command(command)
                #expect(refused.ending == .exited(64), "\(refused)")
                #expect(refused.errors.contains("\(input):\(file.place): a backslash before a quote"), "\(refused)")
                #expect(refused.errors.contains("escape: backslash"), "\(refused)")
            }
            let rendered = try sender.render(input, template + ["--escape", "backslash"])
            let texts = rendered.map { row in
                let payload = (row["payload"] as? String).map { Data($0.utf8) } ?? Data()
                let object = try? JSONSerialization.jsonObject(with: payload) as? [String: Any]
                return (object?["aps"] as? [String: Any])?["alert"] as? String ?? "none"
            }
            #expect(texts == file.texts)
            let checked = try sender.command(
                [
                    "check", "--input", input, "--topic", TestCredentials.topic, "--expiration", "1h", "--escape",
                    "backslash",
                ] + template)
            #expect(checked.ending == .exited(0), "\(checked)")
            let (_, results) = try sender.send(input, to: simulator.port, template + ["--escape", "backslash"])
            results.expectComplete(rows: 2)
            #expect(try simulator.stop().count == 2)
        }

        @Test func `a backslash is text at the end of a field if that is said`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let input = try sender.scratch.write(
                "token,name,text\n\(Self.token(1)),\"C:\\\",x\n", to: "rows.csv")
            let template = try Self.template(sender)
            let refused = try sender.command(
                ["check", "--input", input, "--topic", TestCredentials.topic, "--expiration", "1h"] + template)
            #expect(
                refused.ending == .exited(64) && refused.errors.contains("\(input):2:69: a backslash"), "\(refused)")
            let (_, results) = try sender.send(input, to: simulator.port, template + ["--escape", "none"])
            #expect(results.count("accepted") == 1)
            #expect(try simulator.stop().count == 1)
        }

        @Test func `a late row that may be read in two ways ends the run, which continues when it is said how`() throws
        {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let rows = 20_000
            let lines = (1...rows).map { "\(Self.token($0)),Ann,\($0 == 19_000 ? "\"C:\\\"" : "x")\n" }
            let input = try sender.scratch.write("token,name,text\n" + lines.joined(), to: "rows.csv")
            let directory = sender.newRunDirectory()
            let template = try Self.template(sender)
            let first = try sender.command(
                sender.arguments(input, to: simulator.port, runDirectory: directory, template))
            #expect(first.ending == .exited(64), "\(first)")
            #expect(first.errors.contains("\(input):19001:73: a backslash before a quote"), "\(first)")
            let other = try sender.command(["resume", directory, "--escape", "backslash"])
            #expect(other.ending == .exited(64) && other.errors.contains("escape"), "\(other)")
            let resumed = try sender.command(["resume", directory, "--escape", "none"])
            #expect(resumed.ending == .exited(0), "\(resumed)")
            try RunResults(directory).expectComplete(rows: rows)
            let counts = try simulator.stop()
            #expect(counts.count == rows && counts.values.allSatisfy { $0.received == 1 })
        }

        @Test func `a run with escapes is killed and continued, and gives lines back as they were`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let rows = 3000
            let lines = (1...rows).map { number in
                "\(number % 1000 == 0 ? "bad\(number)" : Self.token(number)),\"A \\\"nn\\\"\",\"a\\\\b \\\", \(number)\"\n"
            }
            let input = try sender.scratch.write("token,name,text\n" + lines.joined(), to: "rows.csv")
            let directory = sender.newRunDirectory()
            let template = try Self.template(sender)
            let process = try sender.start(
                input, to: simulator.port, runDirectory: directory,
                template + ["--escape", "backslash", "--rate", "1000/s"])
            let results = directory + "/results.csv"
            let begun = eventually(seconds: 120) {
                process.isOver || ((try? Data(contentsOf: URL(filePath: results)).count) ?? 0) > 20_000
            }
            try #require(begun && !process.isOver, "\(process.errors)")
            process.stop(SIGKILL)
            let resumed = try sender.command(["resume", directory, "--rate", "none"])
            #expect(resumed.ending == .exited(2), "\(resumed)")
            try RunResults(directory).expectComplete(rows: rows)
            #expect(try simulator.stop().count == rows - 3)
            let returned = try String(contentsOfFile: directory + "/not-sent.csv", encoding: .utf8)
            #expect(returned.contains(",bad2000,\"A \\\"nn\\\"\",\"a\\\\b \\\", 2000\"\n"))
            let again = try sender.command(
                [
                    "check", "--input", directory + "/not-sent.csv", "--topic", TestCredentials.topic, "--expiration",
                    "1h", "--escape", "backslash",
                ] + template)
            #expect(again.ending != .exited(0), "\(again)")
            #expect(!again.errors.contains("[csv-row]") && !again.output.contains("[csv-row]"), "\(again)")
        }
    }
}
