import Foundation
import Testing

extension EndToEndRuns {
    /// Tests of what the history of a campaign decides, and of runs that are given up.
    @Suite struct History {
        private struct Stage {
            let sender: Sender
            let simulator: SimulatorProcess
            let input: String
            let file: String

            init(rows: Int = 400, _ more: String = "") throws {
                sender = try Sender()
                simulator = try SimulatorProcess(sender)
                input = try sender.makeRows(rows, "--plain")
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
                    input: \(input)
                    on_unknown: report
                    \(more)

                    """, to: "nightly.yaml")
            }

            func path(_ night: String) -> String { sender.scratch.path("runs/\(night)") }

            func run(_ night: String, _ more: [String] = []) throws -> Finished {
                try sender.command(["run", file, "--run-dir", path(night)] + more)
            }

            func start(_ night: String, _ more: [String] = []) throws -> Child {
                try Child(
                    Tools.command, ["run", file, "--run-dir", path(night)] + more, name: "run", in: sender.scratch)
            }

            /// Kills a run when some of its rows have lines.
            func kill(_ night: String) throws {
                let process = try start(night, ["--rate", "100/s"])
                let results = path(night) + "/results.csv"
                #expect(
                    eventually(seconds: 60) {
                        process.isOver
                            || ((try? String(contentsOfFile: results, encoding: .utf8))?.split(separator: "\n").count
                                ?? 0)
                                > 20
                    })
                process.stop(SIGKILL)
            }
        }

        @Test
        func `abandon ends every row that is left, without keys, input file or connection, and nothing names the run`()
            throws
        {
            let stage = try Stage("spool: always")
            try stage.kill("first")
            try FileManager.default.removeItem(atPath: stage.sender.credentials.providerKey)
            try FileManager.default.moveItem(atPath: stage.input, toPath: stage.input + ".old")
            let counts = try stage.simulator.stop()
            let abandoned = try stage.sender.command(["abandon", stage.path("first")])
            #expect(abandoned.ending == .exited(0), "\(abandoned)")
            let results = try RunResults(stage.path("first"))
            results.expectComplete(rows: 400)
            #expect(results.count("expired") > 0)
            for line in results.lines {
                switch line.outcome {
                case "expired": #expect(line.reason == "Abandoned" && line.attempts == 0)
                case "unknown": #expect(line.attempts == 1)
                default: #expect(line.outcome == "accepted" && counts[line.token]?.accepted == 1)
                }
            }
            let again = try stage.sender.command(["abandon", stage.path("first")])
            #expect(again.ending == .exited(0) && again.errors.contains("has been complete since"), "\(again)")
            let resumed = try stage.sender.command(["resume", stage.path("first")])
            #expect(!resumed.errors.contains("resume: "), "\(resumed)")
            let none = try stage.run(
                "second", ["--input", try stage.sender.makeRows(20, "--plain", "--seed", "other")])
            // The night has no run that counts, so that another input needs no word; it has no key.
            #expect(none.ending == .exited(64) && none.errors.contains("No such file"), "\(none)")
            let listed = try stage.sender.command(["runs", "--state-dir", stage.sender.scratch.path("runs"), "--json"])
            #expect(listed.outputLines.count == 2 && listed.output.contains(#""ending":"complete""#), "\(listed)")
        }

        @Test func `abandon of a run without its rows or its directory is in the history only`() throws {
            let stage = try Stage()
            try stage.kill("first")
            try "token,name\n00aa,Ada\n".write(toFile: stage.input, atomically: true, encoding: .utf8)
            let results = URL(filePath: stage.path("first") + "/results.csv")
            let before = try Data(contentsOf: results)
            let first = try stage.sender.command(["abandon", stage.path("first")])
            #expect(first.ending == .exited(0) && first.errors.contains("have no lines in results.csv"), "\(first)")
            #expect(try Data(contentsOf: results) == before)

            let other = try stage.sender.makeRows(300, "--plain")
            let process = try stage.start("third", ["--rate", "10/s", "--input", other])
            #expect(
                eventually(seconds: 60) {
                    process.isOver || FileManager.default.fileExists(atPath: stage.path("third") + "/results.csv")
                })
            let busy = try stage.sender.command(["abandon", stage.path("third")])
            #expect(busy.ending == .exited(75), "\(busy)")
            process.stop(SIGKILL)
            try FileManager.default.removeItem(atPath: stage.path("third"))
            let lost = try stage.run("fourth", ["--input", other])
            #expect(lost.ending == .exited(64), "\(lost)")
            #expect(
                lost.errors.contains("its ledger or its rows are gone: it is unknown which rows were sent"), "\(lost)")
            let third = try stage.sender.command(["abandon", stage.path("third")])
            #expect(third.ending == .exited(0), "\(third)")
            #expect(try stage.sender.command(["abandon", stage.path("third")]).ending == .exited(64))
            let sent = try stage.run("fourth", ["--input", other, "--again"])
            #expect(sent.ending == .exited(0) && sent.output.contains("OK: "), "\(sent)")
        }

        @Test func `abandon gives up no run whose files it cannot read`() throws {
            let stage = try Stage()
            try stage.kill("first")
            let ledger = stage.path("first") + "/ledger"
            try FileManager.default.moveItem(atPath: ledger, toPath: ledger + ".kept")
            try FileManager.default.createSymbolicLink(atPath: ledger, withDestinationPath: ledger)
            let refused = try stage.sender.command(["abandon", stage.path("first")])
            #expect([.exited(64), .exited(75)].contains(refused.ending), "\(refused)")
            #expect(!refused.errors.contains("given up") && refused.errors.contains("\(ledger): "), "\(refused)")
            try FileManager.default.removeItem(atPath: ledger)
            try FileManager.default.moveItem(atPath: ledger + ".kept", toPath: ledger)
            let unfinished = try stage.sender.command(
                ["runs", "--unfinished", "--state-dir", stage.sender.scratch.path("runs")])
            #expect(unfinished.outputLines.count >= 1, "\(unfinished)")
        }

        @Test func `runs --unfinished tells a unit at boot whether there is something to continue`() throws {
            let stage = try Stage()
            func left() throws -> Finished {
                try stage.sender.command(["runs", stage.file, "--run-dir", stage.path("{date}"), "--unfinished"])
            }
            #expect(try left().ending == .exited(64))
            try stage.kill("first")
            let found = try left()
            #expect(found.ending == .exited(0), "\(found)")
            let command = " rows are left: apns-batch resume \(stage.path("first"))\n"
            #expect(found.output.contains(command), "\(found)")
            func status() throws -> Finished {
                try stage.sender.command(["status", stage.sender.scratch.path("runs")])
            }
            let named = try status()
            #expect(named.ending == .exited(2) && named.output.contains(command), "\(named)")
            let resumed = try stage.run("first")
            #expect(resumed.output.contains("rows=400 "), "\(resumed)")
            let none = try left()
            #expect(none.ending == .exited(2) && none.output.isEmpty, "\(none)")
            #expect(try status().ending == .exited(0))
        }

        @Test func `a line of the history that cannot be understood is named by run and runs`() throws {
            let stage = try Stage(rows: 20)
            #expect(try stage.run("a").ending == .exited(0))
            let path = stage.sender.scratch.path("runs/runs.ndjson")
            let text = try String(contentsOfFile: path, encoding: .utf8)
            try ("{\"event\":\"began\",\"campaign\":1}\n" + text + "garbage\n").write(
                toFile: path, atomically: true, encoding: .utf8)
            let again = try stage.run("a")
            #expect(again.ending == .exited(0), "\(again)")
            let warning = "runs.ndjson:1: a line that cannot be understood, and 1 more"
            #expect(again.errors.contains(warning), "\(again)")
            let listed = try stage.sender.command(["runs", stage.file, "--run-dir", stage.path("a")])
            #expect(listed.ending == .exited(0) && listed.errors.contains(warning), "\(listed)")
        }

        @Test func `an input that has grown is sent from the row behind those that were sent`() throws {
            let stage = try Stage()
            #expect(try stage.run("first").ending == .exited(0))
            let more = try stage.sender.makeRows(450, "--plain")
            let whole = try String(contentsOfFile: stage.input, encoding: .utf8)
            let added = try String(contentsOfFile: more, encoding: .utf8).split(separator: "\n").suffix(50)
            try (whole + added.joined(separator: "\n") + "\n").write(
                toFile: stage.input, atomically: true, encoding: .utf8)
            let refused = try stage.run("second")
            #expect(refused.ending == .exited(64), "\(refused)")
            #expect(refused.errors.contains("give --again --from-row 401"), "\(refused)")
            let sent = try stage.run("second", ["--again", "--from-row", "401"])
            #expect(sent.ending == .exited(0), "\(sent)")
            let results = try RunResults(stage.path("second"))
            results.expectComplete(rows: 450)
            #expect(results.lines.allSatisfy { $0.outcome == ($0.row <= 400 ? "suppressed" : "accepted") })
            #expect(results.lines.filter { $0.row <= 400 }.allSatisfy { $0.reason == "BeforeFirstRow" })
            #expect(try stage.simulator.stop().values.allSatisfy { $0.received == 1 })
        }

        @Test func `what comes from standard input is known by its rows, and is read once`() throws {
            let stage = try Stage("input_patience: 1h")
            func piped(_ path: String, _ night: String) throws -> Finished {
                let more = ["--run-dir", stage.path(night), "--input", "-"]
                return try Child.run(
                    Tools.command, ["run", stage.file] + more, name: "piped", in: stage.sender.scratch,
                    input: .file(URL(filePath: path)))
            }
            let other = try stage.sender.makeRows(50, "--plain", "--seed", "other")
            let slow = try Child(
                Tools.command,
                ["run", stage.file, "--run-dir", stage.path("first"), "--input", "-", "--rate", "100/s"], name: "slow",
                in: stage.sender.scratch, input: .file(URL(filePath: stage.input)))
            let results = stage.path("first") + "/results.csv"
            func lines() -> Int {
                (try? String(contentsOfFile: results, encoding: .utf8))?.split(separator: "\n").count ?? 0
            }
            #expect(eventually(seconds: 60) { slow.isOver || lines() > 20 })
            slow.stop(SIGKILL)
            // Other rows are another input, and the same ones continue the run.
            let second = try piped(other, "first")
            #expect(second.ending == .exited(2), "\(second)")
            #expect(second.errors.contains("another run of this campaign: \(stage.path("first")): "), "\(second)")
            #expect(second.errors.contains(#/first: [0-9]+ rows are left: /#), "\(second)")
            try RunResults(stage.path("first-2")).expectComplete(rows: 50)
            let first = try piped(stage.input, "first")
            #expect(first.ending == .exited(0) || first.output.contains("rows=400"), "\(first)")
            try RunResults(stage.path("first")).expectComplete(rows: 400)
            // Nothing waits for a stream that has ended.
            let again = try piped(other, "first")
            #expect(again.ending == second.ending && again.errors.contains("has been complete since"), "\(again)")
            let third = try piped(try stage.sender.makeRows(60, "--plain", "--seed", "third"), "first")
            #expect(
                third.ending == .exited(64) && third.errors.contains("has sent another input this night"), "\(third)")
            #expect(try stage.simulator.stop().values.allSatisfy { $0.received <= 2 })
        }

        @Test func `a pipe with a path is read once, from its first byte, and known by its rows`() throws {
            let stage = try Stage(rows: 3000)
            func piped(_ night: String) throws -> Finished {
                try Child.run(
                    "/bin/bash",
                    [
                        "-c", #""$0" run "$1" --run-dir "$2" --input <(cat "$3")"#, Tools.command, stage.file,
                        stage.path(night), stage.input,
                    ],
                    name: "piped", in: stage.sender.scratch)
            }
            let first = try piped("first")
            #expect(first.ending == .exited(0), "\(first)")
            try RunResults(stage.path("first")).expectComplete(rows: 3000)
            let second = try piped("second")
            #expect(second.ending == .exited(0) && second.errors.contains("has been complete since"), "\(second)")
            #expect(try stage.simulator.stop().values.allSatisfy { $0.received == 1 })
        }

        @Test func `an input that is not there is waited for, and SIGTERM ends the wait`() throws {
            let stage = try Stage("input_patience: 1h")
            let away = stage.input + ".away"
            try FileManager.default.moveItem(atPath: stage.input, toPath: away)
            let ended = try stage.start("first")
            let waits = eventually(seconds: 60) {
                ended.isOver || ended.errors.contains("; waiting, up to 3600 seconds")
            }
            #expect(waits, "\(ended.errors)")
            #expect(ended.stop(SIGTERM) == .killed(bySignal: SIGTERM))
            let waiting = try stage.start("first")
            let waitsToo = eventually(seconds: 60) { waiting.isOver || waiting.errors.contains("; waiting, up to") }
            #expect(waitsToo, "\(waiting.errors)")
            try FileManager.default.moveItem(atPath: away, toPath: stage.input)
            #expect(waiting.wait(seconds: 120) == .exited(0), "\(waiting.errors)")
            // It was said once.
            #expect(waiting.errors.ranges(of: "waiting, up to").count == 1, "\(waiting.errors)")
            try RunResults(stage.path("first")).expectComplete(rows: 400)
        }

        @Test func `nothing waits for what a person must change`() throws {
            let stage = try Stage("input_patience: 1h")
            let first = try stage.run("first")
            #expect(first.ending == .exited(0), "\(first)")
            let other = ["--input", try stage.sender.makeRows(50, "--plain", "--seed", "other")]
            for (more, message) in [
                (other, "has sent another input this night"),
                (other + ["--again", "--key-file", stage.path("none.p8")], "none.p8: No such file or directory"),
            ] {
                let refused = try stage.start("second", more)
                #expect(eventually(seconds: 60) { refused.isOver || refused.errors.contains("; waiting, up to") })
                #expect(refused.stop() == .exited(64) && refused.errors.contains(message), "\(refused.errors)")
            }
        }

        @Test func `the first of two runs says at its end that the other one goes on`() throws {
            let stage = try Stage(rows: 1000)
            func hasLines(_ night: String) -> Bool {
                FileManager.default.fileExists(atPath: stage.path(night) + "/results.csv")
            }
            let first = try stage.start("first", ["--rate", "50/s"])
            #expect(eventually(seconds: 60) { first.isOver || hasLines("first") })
            let other = try stage.sender.makeRows(1000, "--plain", "--seed", "other")
            let second = try stage.start("second", ["--input", other, "--rate", "5/s"])
            #expect(eventually(seconds: 60) { second.isOver || hasLines("second") })
            #expect(first.wait(seconds: 120) == .exited(0), "\(first.errors)")
            let name = stage.path("second")
            #expect(first.output.contains("another run goes on: \(name): "), "\(first.output)")
            #expect(first.errors.contains("another run of this campaign goes on: \(name): "), "\(first.errors)")
            let report = try String(contentsOfFile: stage.path("first") + "/report.txt", encoding: .utf8)
            #expect(report.contains("apns-batch status --follow "), "\(report)")
            second.stop(SIGKILL)
        }

        @Test func `a refused start is in the history whatever was wrong, and in the first night, too`() throws {
            let stage = try Stage(rows: 20)
            let whole = try String(contentsOfFile: stage.file, encoding: .utf8)
            let template = Tools.fixture("campaign/plain.json")
            let files = [
                whole.replacing(template, with: "no.json"), whole + "rate: fast\n", whole + "bogus: 1\n",
                whole + "ping_url_file: nope\n", whole + "metrics_textfile: nodir/x.prom\n",
                whole + "on_complete: [mail x]\n", whole + "timezone: Nowhere/Land\n",
                whole.replacing("to: localhost", with: "to: local host"),
            ]
            for (number, file) in files.enumerated() {
                try file.write(toFile: stage.file, atomically: true, encoding: .utf8)
                let refused = try stage.run("first")
                #expect(refused.ending == .exited(64), "\(refused)")
                #expect(!refused.errors.contains("the history does not say"), "\(refused)")
                let listed = try stage.sender.command(
                    ["runs", "--state-dir", stage.sender.scratch.path("runs"), "--json"])
                #expect(listed.outputLines.count == number + 1, "\(listed)")
                #expect(listed.outputLines.last?.contains(#""ending":"refused""#) ?? false, "\(listed)")
            }
            // Nobody knows whose start it was.
            try (whole + "name: Not A Name\n").replacing("name: nightly\n", with: "").write(
                toFile: stage.file, atomically: true, encoding: .utf8)
            #expect(try stage.run("first").ending == .exited(64))
            #expect(
                try String(contentsOfFile: stage.sender.scratch.path("runs/runs.ndjson"), encoding: .utf8)
                    .split(separator: "\n").count == files.count)
        }

        @Test func `a run whose directory is removed says how many rows were sent, also in the verdict`() throws {
            let stage = try Stage(rows: 2000, "rate: 400/s")
            let process = try stage.start("first")
            let results = stage.path("first") + "/results.csv"
            #expect(
                eventually(seconds: 60) {
                    process.isOver
                        || ((try? String(contentsOfFile: results, encoding: .utf8))?.split(separator: "\n").count ?? 0)
                            > 20
                })
            try FileManager.default.removeItem(atPath: stage.path("first"))
            #expect(process.wait(seconds: 120) == .exited(75), "\(process.errors)")
            #expect(!process.errors.contains("no run was started"), "\(process.errors)")
            // Verdict, mail and history say the same.
            let sentence = #/[0-9,]+ rows have ended.*, but the record of the run is gone: /#
            #expect(process.errors.contains(sentence) && process.output.contains(sentence), "\(process.output)")
            let start = "is refused until then, and with --again it sends these rows again"
            #expect(process.errors.contains(start) && process.output.contains(start), "\(process.output)")
            #expect(!process.output.contains("left: resume the run"), "\(process.output)")
            let again = try stage.run("first")
            #expect(again.ending == .exited(64) && again.errors.contains("its rows are gone"), "\(again)")
        }
    }
}
