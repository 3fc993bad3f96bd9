import Foundation
import Testing

extension EndToEndRuns {
    /// Tests of `run`, which starts, resumes or finds complete the run of a night.
    @Suite struct RunCommand {
        /// A campaign file in a directory of its own, rows and a simulator.
        private struct Stage {
            let sender: Sender
            let simulator: SimulatorProcess
            let input: String
            let file: String

            init(rows: Int = 50, script: Script? = nil, name: String = "campaign.yaml") throws {
                sender = try Sender()
                simulator = try SimulatorProcess(sender, script: script)
                input = try sender.makeRows(rows)
                file = sender.scratch.path(name)
                try write()
            }

            func write(_ more: String = "run_dir: night") throws {
                try """
                to: localhost:\(simulator.port)
                topic: \(TestCredentials.topic)
                key_file: \(sender.credentials.providerKey)
                key_id: \(TestCredentials.keyID)
                team_id: \(TestCredentials.teamID)
                ca_file: \(sender.credentials.authority)
                template: \(Sender.template)
                input: \(input)
                \(more)
                """.write(toFile: file, atomically: true, encoding: .utf8)
            }

            var night: String { sender.scratch.path("night") }

            func run(_ more: [String] = []) throws -> Finished { try sender.command(["run", file] + more) }

            func start(_ more: [String] = []) throws -> Child {
                try Child(Tools.command, ["run", file] + more, name: "run", in: sender.scratch)
            }

            /// Waits until a process has begun its session.
            func waitForSession(_ process: Child) throws {
                let begun = eventually(seconds: 60) {
                    let status = try? sender.command(["status", night])
                    return process.isOver || status?.output.contains("process \(process.id) ") == true
                }
                try #require(begun && !process.isOver, "\(process.errors)")
            }
        }

        private static let slow = Script(
            seed: 1, rules: [], latency: "{ distribution: uniform, min_ms: 50, max_ms: 60 }")
        /// Answers that do not come while a test runs.
        private static let silent = Script(
            seed: 1, rules: [], latency: "{ distribution: uniform, min_ms: 3000000, max_ms: 3000001 }")

        @Test func `a new run is sent, and a complete one is shown again without a push`() throws {
            let script = Script(seed: 3, rules: [.init(share: 0.1, status: 410, reason: "Unregistered")])
            let stage = try Stage(rows: 200, script: script)
            let first = try stage.run()
            #expect(first.ending == .exited(0), "\(first)")
            #expect(first.outputLines.last?.hasPrefix("rows=200 ") == true, "\(first)")
            #expect(!first.output.contains("already="))
            let before = try Data(contentsOf: URL(filePath: stage.night + "/results.csv"))
            // The rows and the key may be gone.
            try FileManager.default.removeItem(atPath: stage.input)
            try FileManager.default.removeItem(atPath: stage.sender.credentials.providerKey)
            let again = try stage.run()
            #expect(again.ending == .exited(0), "\(again)")
            #expect(again.outputLines.last == first.outputLines.last.map { $0 + " already=complete" }, "\(again)")
            #expect(again.errors.contains("nothing is sent"), "\(again)")
            let json = try stage.run(["--json"])
            #expect(json.output.contains("\"already\":\"complete\"") && json.output.contains("\"rows\":200"), "\(json)")
            #expect(try Data(contentsOf: URL(filePath: stage.night + "/results.csv")) == before)
            #expect(try stage.simulator.stop().values.allSatisfy { $0.received == 1 })
        }

        @Test func `a process that has entered the end of a run and still works on its files is waited for`() throws {
            let stage = try Stage()
            #expect(try stage.run().ending == .exited(0))
            let ledger = open(stage.night + "/ledger", O_RDONLY | O_CLOEXEC)
            defer { close(ledger) }
            #expect(flock(ledger, LOCK_EX) == 0)
            let beside = try stage.run()
            #expect(beside.ending == .exited(75), "\(beside)")
            #expect(beside.errors.contains("is working on this run"), "\(beside)")
            #expect(flock(ledger, LOCK_UN) == 0)
            let behind = try stage.run()
            #expect(behind.ending == .exited(0) && behind.output.contains(" already=complete\n"), "\(behind)")
        }

        @Test func `a complete run ends with its own exit code again`() throws {
            let script = Script(seed: 3, rules: [.init(share: 1, status: 410, reason: "Unregistered")])
            let stage = try Stage(script: script)
            let first = try stage.run()
            #expect(first.ending == .exited(2), "\(first)")
            let again = try stage.run()
            #expect(again.ending == .exited(2) && again.output.contains(" already=complete\n"), "\(again)")
        }

        @Test func `a run that was killed is resumed, with what was corrected in the campaign file`() throws {
            let stage = try Stage(rows: 2000, script: Self.slow)
            try stage.write("run_dir: night\nconnections: 1\nstreams: 20")
            let killed = try stage.start()
            try stage.waitForSession(killed)
            killed.stop(SIGKILL)
            try stage.write("run_dir: night\nstreams: 500")
            let resumed = try stage.run()
            #expect(resumed.ending == .exited(0), "\(resumed)")
            #expect(resumed.outputLines.last?.contains(" sessions=2 ") == true, "\(resumed)")
            try RunResults(stage.night).expectComplete(rows: 2000)
            #expect(try stage.run().output.contains(" already=complete\n"))
            try stage.write("run_dir: night\npriority: 5")
            let changed = try stage.run()
            #expect(changed.ending == .exited(64), "\(changed)")
            #expect(
                changed.errors.contains("has these rows with another template or other header fields"), "\(changed)")
        }

        @Test
        func `a key that APNs refuses can be corrected before the next call, and another input gets a run of its own`()
            throws
        {
            let stage = try Stage()
            let refused = try stage.run(["--key-id", "WRONGKEY00"])
            #expect(refused.ending == .exited(69), "\(refused)")
            let other = try stage.sender.makeRows(40)
            // Another input is sent in a run of its own, which names the one that is not finished.
            let beside = try stage.run(["--key-id", TestCredentials.keyID, "--input", other])
            #expect(beside.ending == .exited(2), "\(beside)")
            #expect(
                beside.output.contains(
                    "LOOK: another run is not finished: \(stage.night): 50 rows are left: apns-batch resume \(stage.night)\n"
                ),
                "\(beside)")
            try RunResults(stage.night + "-2").expectComplete(rows: 40)
            let done = try stage.run(["--key-id", TestCredentials.keyID])
            #expect(done.ending == .exited(0), "\(done)")
            try RunResults(stage.night).expectComplete(rows: 50)
        }

        @Test func `while a process is at work, the exit code is 75 with its id, and --lock-wait waits for its end`()
            throws
        {
            let stage = try Stage(rows: 100, script: Self.silent)
            let working = try stage.start()
            try stage.waitForSession(working)
            let refused = try stage.run()
            #expect(refused.ending == .exited(75), "\(refused)")
            #expect(refused.errors.contains("process \(working.id) is working on this run"), "\(refused)")
            let sent = try stage.sender.command(["send", stage.file])
            #expect(sent.ending == .exited(75), "\(sent)")
            #expect(sent.errors.contains("process \(working.id) is working on this run"), "\(sent)")

            let terminated = try stage.start(["--lock-wait", "1h"])
            let waits = eventually(seconds: 60) { terminated.errors.contains("waiting for its end") }
            #expect(waits, "\(terminated.errors)")
            #expect(terminated.stop(SIGTERM) == .killed(bySignal: SIGTERM))

            let waiting = try stage.start(["--lock-wait", "1h", "--on-unknown", "report"])
            let waitsToo = eventually(seconds: 60) { waiting.errors.contains("waiting for its end") }
            #expect(waitsToo, "\(waiting.errors)")
            working.stop(SIGKILL)
            // It takes the run over, and ends the rows that were in flight as unknown.
            #expect(waiting.wait(seconds: 120) == .exited(2), "\(waiting.errors)")
            let results = try RunResults(stage.night)
            results.expectComplete(rows: 100)
            #expect(results.count("unknown") > 0)
        }

        @Test(arguments: Tools.loops)
        func `under kills at any time, the same command completes the run, and each row has one line`(
            loop: String
        ) throws {
            let script = Script(
                seed: 3, rules: [.init(share: 0.01, status: 410, reason: "Unregistered")],
                latency: "{ distribution: uniform, min_ms: 10, max_ms: 30 }")
            let stage = try Stage(rows: 5000, script: script)
            let flags = ["--loop", loop, "--connections", "1", "--streams", "200", "--on-unknown", "report"]
            // The first kills come before, and the last ones after the first row is sent.
            for kill in 0..<8 {
                let process = try stage.start(flags)
                usleep(useconds_t(kill) * 60_000)
                process.stop(SIGKILL)
            }
            let finished = try stage.run(flags)
            #expect(finished.ending == .exited(0) || finished.ending == .exited(2), "\(finished)")
            let results = try RunResults(stage.night)
            results.expectComplete(rows: 5000)
            let counts = try stage.simulator.stop()
            #expect(counts.values.allSatisfy { $0.received == 1 })
            for line in results.lines where line.outcome != "unknown" {
                let isGone = script.rule(for: line.token) != nil
                #expect(line.outcome == (isGone ? "rejected" : "accepted"), "row \(line.row)")
            }
        }

        @Test(arguments: Tools.loops) func `of several processes that start together, one sends`(loop: String) throws {
            for _ in 0..<5 {
                let stage = try Stage(rows: 500, script: Self.slow)
                let processes = try (0..<4).map { _ in try stage.start(["--loop", loop]) }
                let endings = processes.map { $0.wait(seconds: 120) }
                let senders = zip(processes, endings).filter {
                    $1 == .exited(0) && !$0.output.contains(" already=complete\n")
                }
                #expect(senders.count == 1, "\(endings): \(processes.map(\.errors))")
                #expect(
                    endings.allSatisfy { $0 == .exited(0) || $0 == .exited(75) },
                    "\(endings): \(processes.map(\.errors))")
                try RunResults(stage.night).expectComplete(rows: 500)
                #expect(try stage.simulator.stop().values.allSatisfy { $0.received == 1 })
            }
        }

        @Test func `the run of another campaign, a broadcast and files of another program are refused`() throws {
            let stage = try Stage()
            #expect(try stage.run().ending == .exited(0))
            let other = try stage.run(["--name", "other"])
            #expect(other.ending == .exited(64), "\(other)")
            #expect(
                other.errors.contains("holds a run of the campaign \"campaign\", and this is the campaign \"other\""),
                "\(other)")

            let foreign = stage.sender.scratch.path("foreign")
            try FileManager.default.createDirectory(atPath: foreign, withIntermediateDirectories: false)
            try "mine\n".write(toFile: foreign + "/results.csv", atomically: true, encoding: .utf8)
            let refused = try stage.run(["--again", "--run-dir", foreign])
            #expect(refused.ending == .exited(64), "\(refused)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: foreign) == ["results.csv"])
            try FileManager.default.moveItem(atPath: foreign + "/results.csv", toPath: foreign + "/ledger")
            let again = try stage.run(["--again", "--run-dir", foreign])
            #expect(again.ending == .exited(64), "\(again)")
            #expect(try String(contentsOfFile: foreign + "/ledger", encoding: .utf8) == "mine\n")

            let channels = stage.sender.newRunDirectory()
            let rows = try stage.sender.scratch.write("channel_id,name\nAAAAAAAAAAAAAAAAAAAAAA==,Ada\n", to: "c.csv")
            let template = try stage.sender.scratch.write(
                #"{"aps":{"timestamp":1767225600,"event":"update","content-state":{"n":"{{name}}"}}}"#, to: "t.json")
            let broadcast = try stage.sender.command([
                "broadcast", stage.file, "--input", rows, "--expiration", "0", "--run-dir", channels, "--template",
                template,
            ])
            #expect(broadcast.ending != .exited(64), "\(broadcast)")
            let run = try stage.run(["--run-dir", channels])
            #expect(run.ending == .exited(64) && run.errors.contains("holds a broadcast"), "\(run)")
        }

        @Test func `results whose ledger is gone are not written over, and the message does not advise to resume them`()
            throws
        {
            let stage = try Stage()
            #expect(try stage.run().ending == .exited(0))
            try FileManager.default.removeItem(atPath: stage.night + "/ledger")
            let sent = try stage.sender.command(["send", stage.file, "--again"])
            #expect(sent.ending == .exited(64), "\(sent)")
            #expect(
                sent.errors.contains(
                    "holds the results of an earlier run: its ledger is gone: restore it, or name another directory"),
                "\(sent)")
        }

        @Test func `standard input that is not kept is sent once, and cannot be resumed`() throws {
            let stage = try Stage(script: Self.silent)
            let rows = try stage.sender.scratch.write("token,first_name,badge\n00aa,Ada,1\n", to: "one.csv")
            let template = try stage.sender.scratch.write(#"{"aps":{"alert":"Hi {{first_name}}"}}"#, to: "t.json")
            let piped = try Child(
                Tools.command, ["run", stage.file, "--input", "-", "--spool", "never", "--template", template],
                name: "run",
                in: stage.sender.scratch, input: .file(URL(filePath: rows)))
            try stage.waitForSession(piped)
            piped.stop(SIGKILL)
            let again = try stage.run(["--input", "-", "--template", template])
            #expect(again.ending == .exited(64), "\(again)")
            #expect(
                again.errors.contains("its ledger or its rows are gone: it is unknown which rows were sent"), "\(again)"
            )
            let resumed = try stage.sender.command(["resume", stage.night])
            #expect(resumed.ending == .exited(64) && resumed.errors.contains("its rows are gone"), "\(resumed)")
            #expect(!resumed.errors.contains("give its new path"), "\(resumed)")
        }

        @Test func `resume of a complete run whose rows are gone answers again`() throws {
            let stage = try Stage()
            let template = try stage.sender.scratch.write(#"{"aps":{"alert":"Hi {{first_name}}"}}"#, to: "t.json")
            let rows = try stage.sender.scratch.write(
                "token,first_name,badge\n\(String(repeating: "0a", count: 32)),Ada,1\n", to: "one.csv")
            let sent = try Child.run(
                Tools.command, ["run", stage.file, "--input", "-", "--spool", "never", "--template", template],
                name: "run", in: stage.sender.scratch, input: .file(URL(filePath: rows)))
            #expect(sent.ending == .exited(0), "\(sent)")
            for flags in [[], ["--retry-unavailable"]] {
                let again = try stage.sender.command(["resume", stage.night] + flags)
                #expect(
                    again.ending == .exited(0) && again.outputLines.last?.hasSuffix("already=complete") == true,
                    "\(again)")
                #expect(again.errors.contains("this run has been complete since"), "\(again)")
            }
        }

        @Test func `without a run directory there is no run, and without a campaign file run refuses to guess`() throws
        {
            let stage = try Stage()
            try stage.write("")
            let finished = try stage.run()
            #expect(finished.ending == .exited(64) && finished.errors.contains("no run directory"), "\(finished)")
            #expect(try stage.sender.command(["run"]).ending == .exited(64))
            let wait = try stage.run(["--run-dir", stage.night, "--lock-wait", "soon"])
            #expect(wait.ending == .exited(64) && wait.errors.contains("--lock-wait: expected a duration"), "\(wait)")
        }

        @Test func `send --resume if-started does the same for flags alone`() throws {
            let stage = try Stage(rows: 1000, script: Self.slow)
            func arguments(_ more: [String]) -> [String] {
                stage.sender.arguments(
                    stage.input, to: stage.simulator.port, runDirectory: stage.night,
                    ["--template", Sender.template, "--connections", "1", "--streams", "20"] + more)
            }
            let killed = try Child(
                Tools.command, arguments(["--resume", "if-started"]), name: "send", in: stage.sender.scratch)
            try stage.waitForSession(killed)
            killed.stop(SIGKILL)
            #expect(try stage.sender.command(arguments([])).ending == .exited(64), "never is the default")
            #expect(try stage.sender.command(arguments(["--resume", "if-started"])).ending == .exited(0))
            try RunResults(stage.night).expectComplete(rows: 1000)
            let again = try stage.sender.command(arguments(["--resume", "if-started"]))
            #expect(again.output.contains(" already=complete\n"), "\(again)")
        }

        @Test func `placeholders in the run directory`() throws {
            let stage = try Stage(name: "Late News.yaml")
            func nights(_ zone: String) -> [String] {
                let date = DateFormatter()
                date.timeZone = TimeZone(identifier: zone)
                date.dateFormat = "yyyy-MM-dd"
                return ["late-news/" + date.string(from: Date())]
            }
            try stage.write("run_dir: runs/{campaign}/{date}\nnight_starts: 00:00\ntimezone: Pacific/Kiritimati")
            // Midnight may pass meanwhile.
            let before = nights("Pacific/Kiritimati")
            #expect(try stage.run().ending == .exited(0))
            #expect(
                try stage.sender.command(["send", stage.file, "--again", "--timezone", "Pacific/Pago_Pago"]).ending
                    == .exited(0))
            let wanted = before + nights("Pacific/Kiritimati") + nights("Pacific/Pago_Pago")
            let runs = stage.sender.scratch.path("runs/late-news")
            let made = try FileManager.default.contentsOfDirectory(atPath: runs).filter { $0 != "runs.ndjson" }
            #expect(made.count == 2 && made.allSatisfy { wanted.contains("late-news/" + $0) }, "\(made)")
        }

        @Test(arguments: [
            ("run_dir: \"{date}\"\ntimezone: Europe/Berlim", "10:11: timezone: expected a time zone")
        ])
        func `wrong values are named with their place`(settings: String, message: String) throws {
            let stage = try Stage()
            try stage.write(settings)
            let finished = try stage.run()
            #expect(finished.ending == .exited(64), "\(finished)")
            #expect(finished.errors.contains("campaign.yaml:\(message)"), "\(finished)")
        }
    }
}
