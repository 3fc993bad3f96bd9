import Foundation
import Testing

extension EndToEnd {
    /// Tests of changes while a run goes on.
    @Suite struct Control {
        /// A run that is so slow at first that only a change brings it to its end.
        private struct SlowRun {
            let sender: Sender
            let simulator: SimulatorProcess
            let directory: String
            let process: Child

            init(rate: String = "20/s", directory name: String? = nil) throws {
                sender = try Sender()
                simulator = try SimulatorProcess(sender)
                let place = name.map(sender.scratch.path) ?? sender.newRunDirectory()
                directory = place
                let input = try sender.makeRows(2000, "--plain")
                process = try sender.start(
                    input, to: simulator.port, runDirectory: directory,
                    ["--template", Tools.fixture("campaign/plain.json"), "--rate", rate])
                let isOpen = eventually(seconds: 60) { FileManager.default.fileExists(atPath: place + "/control") }
                try #require(isOpen, "\(process.errors)")
            }

            func control(_ request: String...) throws -> Finished {
                try sender.command(["control", directory] + request)
            }

            func status() throws -> [String: Any] {
                let finished = try sender.command(["status", directory, "--json"])
                return try #require(
                    try JSONSerialization.jsonObject(with: Data(finished.output.utf8)) as? [String: Any])
            }
        }

        @Test func `a run does what control asks, answers, and records the changes`() throws {
            // Longer than the address of a socket may be.
            let run = try SlowRun(directory: String(repeating: "long", count: 40))
            defer { run.process.stop() }
            let mode = try FileManager.default.attributesOfItem(atPath: run.directory + "/control")[.posixPermissions]
            #expect(mode as? Int == 0o600)

            #expect(try run.control("pause").output.hasPrefix("paused"))
            // Answers to requests that were in flight still come.
            usleep(300_000)
            let before = try run.status()["ended"] as? Int
            #expect(try run.control("rate", "100000/s").output == "rate 100000/s\n")
            usleep(300_000)
            #expect(try run.status()["ended"] as? Int == before, "a run that is paused sends")
            #expect(try run.control("ramp", "2s").output == "rate 100000/s, ramp 2s\n")
            #expect(try run.control("ramp", "none").output == "rate 100000/s\n")
            #expect(try run.control("continue").output == "continuing\n")
            #expect(run.process.wait(seconds: 120) == .exited(0), "\(run.process.errors)")

            let results = try RunResults(run.directory)
            results.expectComplete(rows: 2000)
            let texts = ["paused", "rate 100000/s", "rate 100000/s, ramp 2s", "rate 100000/s", "continued"]
            for changes in [try run.status()["changes"], results.summary["changes"]] {
                #expect((changes as? [[String: Any]])?.map { $0["text"] as? String } == texts)
            }
            #expect(!FileManager.default.fileExists(atPath: run.directory + "/control"))
            let late = try run.control("pause")
            #expect(late.ending == .exited(69) && late.errors.contains("no process is working on this run"), "\(late)")
            _ = try run.simulator.stop()
        }

        @Test func `a request that is wrong changes nothing, and a client that says nothing harms nobody`() throws {
            let run = try SlowRun()
            defer { run.process.stop() }
            for (request, message) in [
                (["rate", "fast"], "expected a rate such as 2000/s"), (["hurry"], "expected rate RATE, ramp DURATION"),
                (["ramp", "2d"], "refused: ramp: expected at most 86400 seconds"),
                (["pause", "now"], "expected rate RATE"),
            ] {
                let refused = try run.sender.command(["control", run.directory] + request)
                #expect(refused.ending == .exited(64) && refused.errors.contains(message), "\(refused)")
            }
            let script = """
                import os, socket, sys
                os.chdir(sys.argv[1])
                for first in [b"", b"x" * 100_000, b"rate 1/s", b"rate \\xff\\n", b"\\n"]:
                    client = socket.socket(socket.AF_UNIX)
                    client.connect("control")
                    try:
                        client.sendall(first)
                    except OSError:
                        pass
                    held = client if first == b"rate 1/s" else client.close()
                """
            let hostile = try Child.run(
                "/usr/bin/python3", ["-c", script, run.directory], name: "clients", in: run.sender.scratch, seconds: 60)
            #expect(hostile.ending == .exited(0), "\(hostile)")
            // Nor do many that say nothing, for as long as they live.
            let silent = """
                import os, socket, sys
                os.chdir(sys.argv[1])
                held = [socket.socket(socket.AF_UNIX) for _ in range(50)]
                for client in held:
                    client.connect("control")
                print("held", flush=True)
                sys.stdin.read()
                """
            let clients = try Child(
                "/usr/bin/python3", ["-c", silent, run.directory], name: "silent", in: run.sender.scratch, input: .pipe)
            #expect(eventually(seconds: 60) { clients.isOver || clients.output == "held\n" }, "\(clients.errors)")
            #expect(try run.control("rate", "19/s").output == "rate 19/s\n")
            clients.closeInput()
            _ = clients.wait(seconds: 30)
            #expect(try run.control("stop").output.hasPrefix("stopping"))
            #expect(run.process.wait(seconds: 60) == .exited(75), "\(run.process.errors)")
            let changes = try RunResults(run.directory).summary["changes"] as? [[String: Any]]
            #expect(changes?.map { $0["text"] as? String } == ["rate 19/s", "stopped"])

            // A run that was killed leaves its socket behind; the next one takes its place.
            let second = try Child(Tools.command, ["resume", run.directory], name: "resume", in: run.sender.scratch)
            defer { second.stop() }
            let path = run.directory + "/control"
            try #require(eventually(seconds: 60) { FileManager.default.fileExists(atPath: path) }, "\(second.errors)")
            second.stop(SIGKILL)
            #expect(FileManager.default.fileExists(atPath: path))
            #expect(try run.control("pause").ending == .exited(69))
            let third = try Child(Tools.command, ["resume", run.directory], name: "resume", in: run.sender.scratch)
            defer { third.stop() }
            try #require(eventually(seconds: 60) { (try? run.control("rate", "none").ending) == .exited(0) })
            #expect(third.wait(seconds: 120) == .exited(0), "\(third.errors)")
            try RunResults(run.directory).expectComplete(rows: 2000)
            _ = try run.simulator.stop()
        }

        @Test func `a deadline and expectations that change in the campaign file apply to a run that goes on`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let input = try sender.makeRows(2000, "--plain")
            func write(_ lines: String) throws -> String {
                let template = Tools.fixture("campaign/plain.json")
                return try sender.scratch.write(
                    "input: \(input)\ntemplate: \(template)\nrate: 20/s\n\(lines)", to: "night.yaml")
            }
            let campaign = try write("not_after: 1h\n")
            let flags = ["--to", "localhost:\(simulator.port)", "--run-dir", sender.newRunDirectory()]
            let run = try Child(
                Tools.command, ["send", campaign] + flags + sender.credentials.flags, name: "send", in: sender.scratch)
            defer { run.stop() }
            try #require(eventually(seconds: 60) { FileManager.default.fileExists(atPath: flags[3] + "/control") })
            _ = try write("not_after: soon\n")
            try #require(
                eventually(seconds: 60) { run.errors.contains("night.yaml:4:12: not_after: expected") }, "\(run.errors)"
            )
            _ = try write("not_after: 1s\nexpect: [expired > 0, accepted >= 0]\n")
            #expect(run.wait(seconds: 120) == .exited(0), "\(run.errors)")
            #expect(run.errors.contains("changed: deadline 20") && run.errors.contains("changed: expectations"))
            let results = try RunResults(flags[3])
            results.expectComplete(rows: 2000)
            #expect(results.count("expired") > 0)
            _ = try simulator.stop()
        }
    }
}
