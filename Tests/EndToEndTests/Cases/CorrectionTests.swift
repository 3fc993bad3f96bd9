import Foundation
import Testing

extension EndToEndRuns {
    /// Tests of rows that were not sent because of themselves, and of their corrections.
    @Suite struct Corrections {
        private struct Stage {
            let sender: Sender
            let simulator: SimulatorProcess
            let file: String

            /// - Parameter runDirectory: That of the campaign file; nil if it has none.
            init(_ more: String = "", runDirectory: String? = "runs/{date}", script: Script? = nil) throws {
                let sender = try Sender()
                let place = runDirectory.map { "run_dir: \(sender.scratch.path($0))" } ?? ""
                self.sender = sender
                simulator = try SimulatorProcess(sender, script: script)
                file = try sender.scratch.write(
                    """
                    name: nightly
                    to: localhost:\(simulator.port)
                    topic: \(TestCredentials.topic)
                    key_file: \(sender.credentials.providerKey)
                    key_id: \(TestCredentials.keyID)
                    team_id: \(TestCredentials.teamID)
                    ca_file: \(sender.credentials.authority)
                    template: \(Tools.fixture("campaign/plain.json"))
                    expiration: 1h
                    on_unknown: report
                    stop_at: { invalid: never }
                    \(place)
                    \(more)

                    """, to: "nightly.yaml")
            }

            func path(_ night: String) -> String { sender.scratch.path("runs/\(night)") }

            func write(_ text: String, to name: String) throws -> String { try sender.scratch.write(text, to: name) }

            func run(_ night: String, _ input: String, _ more: [String] = []) throws -> Finished {
                try sender.command(["run", file, "--run-dir", path(night), "--input", input] + more)
            }

            func correct(_ night: String, _ input: String, _ more: [String] = []) throws -> Finished {
                try sender.command(["run", file, "--correction", path(night), "--input", input] + more)
            }

            func notSent(_ night: String, _ name: String = "not-sent.csv") throws -> String {
                try String(contentsOfFile: path(night) + "/" + name, encoding: .utf8)
            }

            /// Sends rows of which some are broken, and returns the content of the file with these.
            func sendBroken(_ night: String, rows: Int = 20, broken: Set<Int> = [3, 7]) throws -> String {
                let input = try write(Corrections.csv(1...rows, broken: broken), to: "\(night).csv")
                let first = try run(night, input)
                #expect(first.ending == .exited(2), "\(first)")
                return try notSent(night)
            }

            func sent() throws -> [Int] { try simulator.stop().values.map(\.received) }
        }

        private static func token(_ number: Int) -> String {
            let digits = String(number + 0x1000, radix: 16)
            return String(repeating: "0", count: 64 - digits.count) + digits
        }

        private static func csv(_ rows: ClosedRange<Int>, broken: Set<Int> = []) -> String {
            "token,name\n"
                + rows.map { "\(broken.contains($0) ? "x\($0)" : token($0)),Name \($0)\n" }.joined()
        }

        /// Replaces the tokens that `csv` has broken.
        private static func corrected(_ text: String) -> String {
            text.replacing(#/,x([0-9]+),/#) { ",\(token(Int($0.1) ?? 0))," }
        }

        @Test func `lines that were not sent are given back as they were, and are sent once when they are corrected`()
            throws
        {
            let stage = try Stage()
            let odd = "x9,\"Ann \"\"A\"\"\r\n\r\nBee, Jr.\"\r\n"
            let lines = Self.csv(1...8, broken: [3]) + odd + "\n\(Self.token(10)),Ten\n" + "x11,Eleven"
            let input = try stage.write(lines, to: "first.csv")
            let first = try stage.run("first", input)
            #expect(first.ending == .exited(2), "\(first)")
            #expect(first.output.contains("not-sent.csv has the rows that were not sent"), "\(first)")
            #expect(
                first.errors.contains(
                    "3 rows were not sent: \(stage.path("first"))/not-sent.csv; send its corrected lines with apns-batch run "
                        + "\(stage.file) --correction \(stage.path("first")) --input CORRECTED"), "\(first)")
            let text = try stage.notSent("first")
            #expect(
                text.replacing(#/,"?invalid: [^\n]*?(?=,x[0-9])/#, with: ",REASON")
                    == "not_sent_row,not_sent_reason,token,name\n3,REASON,x3,Name 3\n9,REASON,\(odd)11,REASON,x11,Eleven\n"
            )
            let facts = try FileManager.default.attributesOfItem(atPath: stage.path("first") + "/not-sent.csv")
            #expect(facts[.posixPermissions] as? Int == 0o600)

            let corrected = try stage.write(Self.corrected(text), to: "corrected.csv")
            let second = try stage.correct("first", corrected)
            #expect(second.ending == .exited(0), "\(second)")
            #expect(!second.errors.contains("unused-column"), "\(second)")
            let results = try RunResults(stage.path("first-correction-1"))
            results.expectComplete(rows: 3)
            #expect(results.count("accepted") == 3)
            #expect(results.summary["correction_of"] as? String == stage.path("first"))
            let again = try stage.correct("first", corrected)
            #expect(again.ending == .exited(0) && again.output.contains("already=complete"), "\(again)")
            #expect(!FileManager.default.fileExists(atPath: stage.path("first-correction-2")))
            let report = try String(contentsOfFile: stage.path("first-correction-1") + "/report.txt", encoding: .utf8)
            #expect(report.replacing("\n", with: " ").contains("a correction of \(stage.path("first"))"))
            let steps = try String(contentsOfFile: stage.path("first") + "/report.txt", encoding: .utf8)
            #expect(
                steps.contains("apns-batch run \(stage.file) --correction \(stage.path("first")) --input CORRECTED"))
            #expect(try stage.sent() == Array(repeating: 1, count: 11))
        }

        @Test func `the history of a correction is beside its run, where the campaign file has no run directory`()
            throws
        {
            let stage = try Stage(runDirectory: nil)
            let corrected = try stage.write(Self.corrected(try stage.sendBroken("first")), to: "corrected.csv")
            #expect(try stage.correct("first", corrected).ending == .exited(0))
            let history = try String(contentsOfFile: stage.path("runs.ndjson"), encoding: .utf8)
            #expect(history.contains("first-correction-1"))
        }

        @Test func `corrections are found where they were when their run was moved`() throws {
            let stage = try Stage()
            let text = Self.corrected(try stage.sendBroken("first"))
            let lines = text.split(separator: "\n")
            let one = try stage.write(lines[0...1].joined(separator: "\n") + "\n", to: "one.csv")
            let correction = try stage.correct("first", one)
            #expect(correction.ending == .exited(0), "\(correction)")
            try FileManager.default.createDirectory(atPath: stage.path("kept"), withIntermediateDirectories: true)
            try FileManager.default.moveItem(atPath: stage.path("first"), toPath: stage.path("kept/first"))
            let both = try stage.write(text, to: "both.csv")
            let refused = try stage.correct("kept/first", both)
            #expect(refused.ending == .exited(64), "\(refused)")
            #expect(refused.errors.contains("row 3 was accepted in \(stage.path("first-correction-1"))"), "\(refused)")
            #expect(try stage.sent() == Array(repeating: 1, count: 19))
        }

        @Test func `lines that were given back are not sent without the run that they correct`() throws {
            let stage = try Stage()
            let corrected = try stage.write(Self.corrected(try stage.sendBroken("first")), to: "corrected.csv")
            for more in [[], ["--again"]] {
                let refused = try stage.run("second", corrected, more)
                #expect(refused.ending == .exited(64), "\(refused)")
                let wanted = more.isEmpty ? "first" : "--correction RUN_DIR"
                #expect(refused.errors.contains(wanted), "\(refused)")
            }
            #expect(try stage.correct("first", corrected).ending == .exited(0))
            #expect(try stage.sent() == Array(repeating: 1, count: 20))
        }

        @Test
        func `a correction is no run of a night: the next one sends its own input, and the old one is not sent again`()
            throws
        {
            let stage = try Stage("expect: [accepted >= 10, invalid <= 5]\nmin_rows: 10")
            let input = try stage.write(Self.csv(1...20, broken: [3, 7]), to: "first.csv")
            #expect(try stage.run("first", input).ending == .exited(0))
            let corrected = try stage.write(Self.corrected(try stage.notSent("first")), to: "corrected.csv")
            let correction = try stage.correct("first", corrected)
            #expect(correction.ending == .exited(0), "\(correction)")
            let old = try stage.run("first", input)
            #expect(
                old.ending == .exited(0) && old.output.contains("rows=20 ") && old.output.contains("already=complete"),
                "\(old)")
            let night = try stage.write(Self.csv(101...120), to: "second.csv")
            let second = try stage.run("second", night, ["--again"])
            #expect(second.ending == .exited(0), "\(second)")
            let third = try stage.run("third", input)
            #expect(third.output.contains("already=complete"), "\(third)")
            let listed = try stage.sender.command(["runs", stage.file, "--run-dir", stage.path("{date}"), "--json"])
            let directories = try listed.outputLines.map {
                try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])["run_dir"]
                    as? String
            }
            #expect(directories == ["first", "first-correction-1", "second"].map(stage.path), "\(listed)")
            let table = try stage.sender.command(["runs", stage.file, "--run-dir", stage.path("{date}")])
            #expect(table.output.contains("first-correction-1, a correction of "), "\(table)")
            let counts = try stage.simulator.stop()
            #expect(counts.count == 40 && counts.values.allSatisfy { $0.received == 1 })
        }

        @Test func `rows that were sent, or are none of the run, are refused before the first push`() throws {
            let stage = try Stage()
            let text = try stage.sendBroken("first")
            let fixed = Self.corrected(text)
            let head = "not_sent_row,not_sent_reason,token,name\n"
            func refused(_ content: String, _ message: String) throws {
                let finished = try stage.correct("first", try stage.write(content, to: "wrong.csv"))
                #expect(finished.ending == .exited(64) && finished.errors.contains(message), "\(finished)")
            }
            try refused(
                fixed + "4,,\(Self.token(4)),Again\n",
                "wrong.csv:4: row 4 was accepted in \(stage.path("first")); nothing was sent")
            try refused(
                fixed + "21,,\(Self.token(21)),New\n", "wrong.csv:4: row 21 is no row of \(stage.path("first"))")
            try refused(fixed + "3,,\(Self.token(33)),Twice\n", "wrong.csv:4: it has the row of ")
            try refused(fixed + ",,\(Self.token(33)),None\n", "wrong.csv:4:1: not_sent_row has no number of a row")
            try refused("token,name\n\(Self.token(33)),None\n", "wrong.csv:1: no column \"not_sent_row\"")
            try refused(head, "it has no rows")
            let part = fixed.split(separator: "\n").prefix(2).joined(separator: "\n") + "\n"
            let first = try stage.correct("first", try stage.write(part, to: "part.csv"))
            #expect(first.ending == .exited(0), "\(first)")
            try refused(fixed, "row 3 was accepted in \(stage.path("first-correction-1"))")
            // The other one is sent by a further correction, of the correction.
            let rest = head + fixed.split(separator: "\n").suffix(1).joined() + "\n"
            let second = try stage.correct("first-correction-1", try stage.write(rest, to: "rest.csv"))
            #expect(second.ending == .exited(0), "\(second)")
            try RunResults(stage.path("first-correction-2")).expectComplete(rows: 1)
            #expect(try stage.sent() == Array(repeating: 1, count: 20))
        }

        @Test func `a correction that was killed is named, continued with the same file, and sends each row once`()
            throws
        {
            let stage = try Stage()
            let rows = 300
            let text = try stage.sendBroken("first", rows: rows, broken: Set(11...rows))
            let corrected = try stage.write(Self.corrected(text), to: "corrected.csv")
            let process = try Child(
                Tools.command,
                ["run", stage.file, "--correction", stage.path("first"), "--input", corrected, "--rate", "10/s"],
                name: "correction", in: stage.sender.scratch)
            let directory = stage.path("first-correction-1")
            func lines() -> Int {
                (try? String(contentsOfFile: directory + "/results.csv", encoding: .utf8))?.split(separator: "\n").count
                    ?? 0
            }
            #expect(eventually(seconds: 60) { process.isOver || lines() > 20 })
            let busy = try stage.correct("first", corrected)
            #expect(busy.ending == .exited(75), "\(busy)")
            process.stop(SIGKILL)
            // Not even a damaged line hides it.
            let history = stage.path("runs.ndjson")
            let entries = try String(contentsOfFile: history, encoding: .utf8)
            try entries.replacing("\"correction_of\"", with: "\"correction").write(
                toFile: history, atomically: true, encoding: .utf8)
            let command = "apns-batch resume \(directory)"
            let listed = try stage.sender.command(["runs", stage.file, "--run-dir", stage.path("{date}")])
            #expect(listed.output.contains(command), "\(listed)")
            #expect(try stage.sender.command(["status", stage.path("first")]).output.contains(command))
            let night = try stage.run("second", try stage.write(Self.csv(1001...1010), to: "second.csv"), ["--again"])
            #expect(night.ending == .exited(2) && night.output.contains(command), "\(night)")
            let overlap = try stage.write(Self.corrected(text) + "\n", to: "overlap.csv")
            let refused = try stage.correct("first", overlap)
            #expect(refused.ending == .exited(64), "\(refused)")
            let resumed = try stage.correct("first", corrected, ["--rate", "none"])
            #expect(
                [.exited(0), .exited(2)].contains(resumed.ending) && resumed.output.contains("rows=290 "), "\(resumed)")
            try RunResults(directory).expectComplete(rows: 290)
            let third = try stage.run("third", try stage.write(Self.csv(2001...2010), to: "third.csv"), ["--again"])
            #expect(third.ending == .exited(0), "\(third)")
            #expect(try stage.sent().allSatisfy { $0 == 1 })
        }

        @Test func `abandon ends a correction, and the rows that it has not sent can be corrected again`() throws {
            let stage = try Stage()
            let text = try stage.sendBroken("first", rows: 3000, broken: Set(1...2900))
            let corrected = try stage.write(Self.corrected(text), to: "corrected.csv")
            let process = try Child(
                Tools.command,
                ["run", stage.file, "--correction", stage.path("first"), "--input", corrected, "--rate", "100/s"],
                name: "correction", in: stage.sender.scratch)
            let directory = stage.path("first-correction-1")
            func lines() -> Int {
                (try? String(contentsOfFile: directory + "/results.csv", encoding: .utf8))?.split(separator: "\n").count
                    ?? 0
            }
            #expect(eventually(seconds: 60) { process.isOver || lines() > 5 })
            process.stop(SIGKILL)
            let abandoned = try stage.sender.command(["abandon", directory])
            #expect(abandoned.ending == .exited(0), "\(abandoned)")
            let left = try stage.notSent("first-correction-1")
            #expect(left.hasPrefix("not_sent_row,not_sent_reason,not_sent_row_1,not_sent_reason_1,token,name\n"))
            let second = try stage.correct("first-correction-1", try stage.write(left, to: "left.csv"))
            #expect(second.ending == .exited(0), "\(second)")
            #expect(try stage.sent().allSatisfy { $0 == 1 })
        }

        @Test func `a correction that is lost is in the way until it is given up`() throws {
            let stage = try Stage()
            let corrected = try stage.write(Self.corrected(try stage.sendBroken("first")), to: "corrected.csv")
            #expect(try stage.correct("first", corrected).ending == .exited(0))
            let record = stage.path("first-correction-1") + "/correction.json"
            try FileManager.default.moveItem(atPath: record, toPath: record + ".away")
            let unnamed = try stage.correct("first", corrected)
            #expect(unnamed.ending == .exited(64) && unnamed.errors.contains("restore that file"), "\(unnamed)")
            try FileManager.default.moveItem(atPath: record + ".away", toPath: record)
            #expect(try stage.correct("first", corrected).output.contains("already=complete"))
            let directory = stage.path("first-correction-1")
            for name in ["ledger", "summary.json"] {
                try "damaged".write(toFile: "\(directory)/\(name)", atomically: true, encoding: .utf8)
            }
            let lost = try stage.correct("first", corrected)
            #expect(lost.ending == .exited(64) && lost.errors.contains("Restore the directory; nothing"), "\(lost)")
            // Without its end in the history it can be given up.
            let history = stage.path("runs.ndjson")
            let lines = try String(contentsOfFile: history, encoding: .utf8).split(separator: "\n")
            try lines.filter { !($0.contains(directory) && $0.contains("\"ending\"")) }.map { $0 + "\n" }.joined()
                .write(toFile: history, atomically: true, encoding: .utf8)
            let open = try stage.correct("first", corrected)
            #expect(open.errors.contains("apns-batch abandon \(directory)"), "\(open)")
            #expect(!open.errors.contains("--again"), "\(open)")
            let given = try stage.sender.command(["abandon", directory])
            #expect(given.ending == .exited(0), "\(given)")
            let second = try stage.correct("first", corrected)
            #expect(second.ending == .exited(0), "\(second)")
            #expect(try stage.sent().sorted().suffix(3) == [1, 2, 2])
        }

        @Test func `lines of NDJSON are given back with two members in front, and can be corrected more than once`()
            throws
        {
            let stage = try Stage()
            let rows = [
                #"{"token": "\#(Self.token(1))", "name": "A"}"#, #"{"token": "x2", "name": "not_sent_row"}"#,
                "no object", "{}",
            ]
            let first = try stage.run("first", try stage.write(rows.joined(separator: "\n") + "\n", to: "first.ndjson"))
            #expect(first.ending == .exited(2), "\(first)")
            let text = try stage.notSent("first", "not-sent.ndjson")
            let lines = text.split(separator: "\n")
            #expect(lines.count == 3)
            let objects = try lines.map {
                try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
            }
            #expect(objects.map { $0["not_sent_row"] as? Int } == [2, 3, 4])
            #expect(objects[1]["not_sent_line"] as? String == "no object")
            let again = try stage.correct("first", try stage.write(String(lines[0]) + "\n", to: "again.ndjson"))
            #expect(again.ending == .exited(2), "\(again)")
            let twice = try stage.notSent("first-correction-1", "not-sent.ndjson")
            let fixed = twice.replacing("\"x2\"", with: "\"\(Self.token(2))\"")
            let second = try stage.correct("first", try stage.write(fixed, to: "second.ndjson"))
            #expect(second.ending == .exited(0), "\(second)")
            #expect(try stage.sent() == [1, 1])
        }

        @Test func `unavailable rows are sent by resume or by a correction, and never by both`() throws {
            let script = Script(
                seed: 1, rules: [.init(share: 0.5, status: 503, reason: "ServiceUnavailable", times: 1)])
            let stage = try Stage("attempts: 1", script: script)
            let first = try stage.run("first", try stage.write(Self.csv(1...40), to: "first.csv"))
            #expect(first.ending == .exited(2), "\(first)")
            let lines = try stage.notSent("first").split(separator: "\n")
            let unavailable = try RunResults(stage.path("first")).lines.filter { $0.outcome == "unavailable" }.map(
                \.row)
            #expect(unavailable.count > 2 && lines.count == unavailable.count + 1)
            #expect(
                zip(lines.dropFirst(), unavailable).allSatisfy {
                    $0 == "\($1),unavailable: ServiceUnavailable,\(Self.token($1)),Name \($1)"
                })
            let one = try stage.correct(
                "first", try stage.write(lines.prefix(2).joined(separator: "\n") + "\n", to: "one.csv"))
            #expect(one.ending == .exited(0), "\(one)")
            let retried = try stage.sender.command(["resume", stage.path("first"), "--retry-unavailable"])
            #expect(retried.ending == .exited(64) && retried.errors.contains("could be sent twice"), "\(retried)")
            let others = (lines.prefix(1) + lines.dropFirst(2)).joined(separator: "\n") + "\n"
            let rest = try stage.correct("first", try stage.write(others, to: "rest.csv"))
            #expect(rest.ending == .exited(0), "\(rest)")

            let night = try stage.run("second", try stage.write(Self.csv(101...140), to: "second.csv"), ["--again"])
            #expect(night.ending == .exited(2), "\(night)")
            #expect(try !stage.notSent("second").isEmpty)
            let again = try stage.sender.command(["resume", stage.path("second"), "--retry-unavailable"])
            #expect(again.ending == .exited(0), "\(again)")
            #expect(!FileManager.default.fileExists(atPath: stage.path("second") + "/not-sent.csv"))
            let counts = try stage.simulator.stop()
            #expect(counts.count == 80 && counts.values.allSatisfy { $0.accepted == 1 })
        }

        @Test
        func `a run that goes on or is not finished cannot be corrected, and flags that make no sense are refused`()
            throws
        {
            let stage = try Stage()
            let input = try stage.write(Self.csv(1...300, broken: [2]), to: "first.csv")
            let process = try Child(
                Tools.command,
                ["run", stage.file, "--run-dir", stage.path("first"), "--input", input, "--rate", "20/s"],
                name: "run", in: stage.sender.scratch)
            let results = stage.path("first") + "/results.csv"
            #expect(
                eventually(seconds: 60) {
                    process.isOver
                        || ((try? String(contentsOfFile: results, encoding: .utf8))?.split(separator: "\n").count ?? 0)
                            > 5
                })
            let row = try stage.write("not_sent_row,token,name\n2,\(Self.token(2)),B\n", to: "row.csv")
            let busy = try stage.correct("first", row)
            #expect(busy.ending == .exited(75), "\(busy)")
            process.stop(SIGKILL)
            let unfinished = try stage.correct("first", row)
            #expect(
                unfinished.ending == .exited(64) && unfinished.errors.contains("is not finished: finish it first"),
                "\(unfinished)")
            let none = try stage.correct("none", row)
            #expect(
                none.ending == .exited(64) && none.errors.contains("holds no run that could be corrected"), "\(none)")
            for more in [
                ["--run-dir", stage.path("x")], ["--from-row", "2"], ["--spool", "never"], ["--to", "simulator"],
                ["--again"],
            ] {
                let finished = try stage.correct("first", row, more)
                #expect(finished.ending == .exited(64), "\(finished)")
            }
            let file = try stage.sender.command(["run", stage.file, "--correction", stage.path("first")])
            #expect(file.ending == .exited(64) && file.errors.contains("with --input"), "\(file)")
        }
    }
}
