import Foundation
import Testing

extension EndToEndRuns {
    /// Tests that kill processes and continue their runs in another process.
    @Suite struct Resuming {
        /// Returns the last line of `status`, or nil if it finds no run.
        private func status(_ directory: String, _ sender: Sender) throws -> [String: Int]? {
            let finished = try sender.command(["status", directory])
            guard finished.ending == .exited(0) || finished.ending == .exited(2) else { return nil }
            let last = try #require(finished.outputLines.last)
            return Dictionary(
                uniqueKeysWithValues: try last.split(separator: " ").map { pair in
                    let parts = pair.split(separator: "=")
                    return (String(parts[0]), try #require(Int(parts[1])))
                })
        }

        /// Waits until this many more rows of the run have ended.
        private func waitForRows(_ more: Int, _ directory: String, _ sender: Sender, _ process: Child) throws {
            let before = try status(directory, sender)?["ended"] ?? 0
            let ended = eventually(seconds: 120) {
                process.isOver || (try? status(directory, sender)?["ended"] ?? 0) ?? 0 >= before + more
            }
            try #require(ended, "\(process.errors)")
        }

        @Test(arguments: ["status", "resume"])
        func `an emptied ledger beside results is damaged, and nobody says that nothing was sent`(
            command: String
        ) throws {
            let sender = try Sender()
            let directory = sender.newRunDirectory()
            let sent = try sender.command([
                "send", "--input", try sender.makeRows(10), "--template", Sender.template, "--to", "simulator",
                "--run-dir", directory,
            ])
            #expect(sent.ending == .exited(0), "\(sent)")
            try #require(truncate(directory + "/ledger", 0) == 0)
            let refused = try sender.command([command, directory])
            #expect(refused.ending == .exited(64), "\(refused)")
            #expect(refused.errors.contains("damaged at byte 0"), "\(refused)")
        }

        @Test(arguments: [("resend", nil), ("report", "gzip"), ("resend", "zstd")])
        func `after ten crashes each row has one line, and none was sent twice beyond what the policy allows`(
            policy: String, packing: String?
        ) throws {
            let sender = try Sender()
            let script = Script(
                seed: 3,
                rules: [
                    .init(share: 0.01, status: 410, reason: "Unregistered"),
                    .init(share: 0.01, status: 503, reason: "ServiceUnavailable", times: 1),
                ], latency: "{ distribution: uniform, min_ms: 10, max_ms: 30 }")
            let simulator = try SimulatorProcess(sender, script: script)
            let rows = 20_000
            let plain = try sender.makeRows(rows)
            let input = try packing.map { try sender.pack(plain, $0) } ?? plain
            let directory = sender.newRunDirectory()
            var process = try sender.start(
                input, to: simulator.port, runDirectory: directory,
                ["--template", Sender.template, "--on-unknown", policy, "--connections", "1"])
            var underWay = 0
            for _ in 0..<10 {
                try waitForRows(100, directory, sender, process)
                process.stop(SIGKILL)
                underWay += try status(directory, sender)?["may_be_sent"] ?? 0
                process = try Child(Tools.command, ["resume", directory], name: "resume", in: sender.scratch)
            }
            let ending = process.wait(seconds: 300)
            #expect(ending == .exited(0) || ending == .exited(2), "\(ending): \(process.errors)")

            let results = try RunResults(directory)
            results.expectComplete(rows: rows)
            let counts = try simulator.stop()
            var twice = 0
            for line in results.lines {
                let count = counts[line.token] ?? .init(received: 0, accepted: 0)
                twice += count.received > (script.rule(for: line.token)?.status == 503 ? 2 : 1) ? 1 : 0
                if line.outcome == "accepted" { #expect(count.accepted >= 1, "row \(line.row)") }
                if line.outcome == "rejected" {
                    #expect(script.rule(for: line.token)?.status == 410, "row \(line.row)")
                }
            }
            #expect(twice <= (policy == "report" ? 0 : underWay))
            #expect(results.count("unknown") <= (policy == "report" ? underWay : 0))
            #expect(try status(directory, sender)?["not_sent"] == 0)
        }

        /// The benchmark of the library is a program with rows of its own.
        @Test(arguments: ["resend", "report"])
        func `a program that crashes eight times sends each of its rows once, as the policy allows`(
            policy: String
        ) throws {
            let sender = try Sender()
            let script = Script(
                seed: 3, rules: [.init(share: 0.01, status: 410, reason: "Unregistered")],
                latency: "{ distribution: uniform, min_ms: 10, max_ms: 30 }")
            let simulator = try SimulatorProcess(sender, script: script)
            let (rows, directory) = (20_000, sender.newRunDirectory())
            let template = try sender.scratch.write(#"{"aps":{"alert":"Hello {{name}}"}}"#, to: "name.json")
            func program() throws -> Child {
                try Child(
                    Tools.built("apns-batch-library-benchmarks"),
                    [
                        "writer", "--rows", "\(rows)", "--template", template, "--to",
                        "localhost:\(simulator.port)", "--run-dir", directory, "--lanes", "1", "--resumable",
                        "--on-unknown", policy,
                    ] + sender.credentials.flags, name: "program", in: sender.scratch)
            }
            var process = try program()
            var underWay = 0
            for _ in 0..<8 {
                try waitForRows(100, directory, sender, process)
                process.stop(SIGKILL)
                underWay += try status(directory, sender)?["may_be_sent"] ?? 0
                process = try program()
            }
            #expect(process.wait(seconds: 300) == .exited(0), "\(process.errors)")

            let results = try RunResults(directory)
            results.expectComplete(rows: rows)
            let counts = try simulator.stop()
            let twice = counts.values.count { $0.received > 1 }
            for line in results.lines where line.outcome == "accepted" {
                #expect(counts[line.token]?.accepted ?? 0 >= 1, "row \(line.row)")
            }
            #expect(twice <= (policy == "report" ? 0 : underWay))
            #expect(results.count("unknown") <= (policy == "report" ? underWay : 0))
            #expect(counts.count + results.count("unknown") >= rows)
            #expect(!FileManager.default.fileExists(atPath: "\(directory)/rows.spool"))
        }

        @Test func `a complete run of standard input that is not kept answers again`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let directory = sender.newRunDirectory()
            let rows = try sender.scratch.write("token,name\n00aa,Ada\n", to: "rows.csv")
            try sender.scratch.write("{\"aps\":{\"alert\":\"Hi {{name}}\"}}", to: "payload.json")
            let template = ["--template", sender.scratch.path("payload.json"), "--spool", "never"]
            let process = try sender.start(
                "-", to: simulator.port, runDirectory: directory, template, standardInput: .file(URL(filePath: rows)))
            #expect(process.wait(seconds: 120) == .exited(0), "\(process.errors)")
            let status = try sender.command(["status", directory])
            #expect(status.ending == .exited(0), "\(status)")
            #expect(status.output.contains("row 1: ended\n"), "\(status)")
            let again = try sender.command(["resume", directory])
            #expect(again.ending == .exited(0), "\(again)")
            #expect(again.errors.contains("has been complete since"), "\(again)")

            let piped = sender.newRunDirectory()
            let pipe = try sender.start(
                "-", to: simulator.port, runDirectory: piped, Array(template.prefix(2)), standardInput: .pipe)
            pipe.write("token,name\n00aa,Ada\n")
            pipe.closeInput()
            #expect(pipe.wait(seconds: 120) == .exited(0), "\(pipe.errors)")
            let resumed = try sender.command(["resume", piped])
            #expect(resumed.ending == .exited(0), "\(resumed)")
            #expect(resumed.errors.contains("has been complete since"), "\(resumed)")
            #expect(try simulator.stop().values.allSatisfy { $0.received == 2 })
        }

        @Test func `a full disk ends a run with 75 before a row is lost, and resume completes it`() throws {
            guard getuid() == 0 else { return }
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let disk = sender.scratch.path("disk")
            try prepare("mkdir", [disk], in: sender.scratch)
            // Only root may mount a file system, and many containers forbid it.
            let mounted = try Child.run(
                "mount", ["-t", "tmpfs", "-o", "size=60m", "tmpfs", disk], name: "mount", in: sender.scratch)
            guard mounted.ending == .exited(0) else { return }
            defer { _ = try? Child.run("umount", [disk], name: "umount", in: sender.scratch) }
            let rows = 100_000
            let input = try sender.makeRows(rows)
            let process = try sender.start(
                input, to: simulator.port, runDirectory: disk + "/run",
                ["--template", Sender.template, "--rate", "5000/s"])
            let results = disk + "/run/results.csv"
            #expect(
                eventually(seconds: 60) {
                    process.isOver || (try? String(contentsOfFile: results, encoding: .utf8))?.isEmpty == false
                })
            // Another program fills the disk, which had room for the run when it began.
            let filler = disk + "/filler"
            _ = try Child.run("dd", ["if=/dev/zero", "of=\(filler)", "bs=64k"], name: "dd", in: sender.scratch)
            #expect(process.wait(seconds: 300) == .exited(75), "\(process.errors)")
            #expect(process.errors.contains("No space left on device"), "\(process.errors)")
            #expect(try #require(try status(disk + "/run", sender))["may_be_sent"] == 0)
            try FileManager.default.removeItem(atPath: filler)
            let resumed = try sender.command(["resume", disk + "/run", "--rate", "none"])
            #expect(resumed.ending == .exited(0), "\(resumed)")
            try RunResults(disk + "/run").expectComplete(rows: rows)
            #expect(try simulator.stop().values.allSatisfy { $0.received == 1 })
        }
    }
}
