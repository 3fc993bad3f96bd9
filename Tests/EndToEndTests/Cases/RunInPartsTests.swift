import Foundation
import Testing

extension EndToEnd {
    /// Tests of what an operator does by hand with a run whose rows were divided into parts.
    @Suite struct RunInParts {
        private let sender: Sender
        private let stage: (directory: String, inputs: [String])

        init() throws {
            sender = try Sender()
            stage = try PartReports.divide(sender)
        }

        private func part(_ number: Int) -> String { "\(stage.directory)/parts/0000\(number)" }

        private func status() throws -> [String: Any] {
            let finished = try sender.command(["status", stage.directory, "--json"])
            return try #require(
                try JSONSerialization.jsonObject(with: Data(finished.output.utf8)) as? [String: Any], "\(finished)")
        }

        private func states() throws -> [String] {
            let parts = try #require(try status()["parts"] as? [[String: Any]])
            return parts.compactMap { $0["state"] as? String }
        }

        @Test func `status adds up the parts, names those that are not complete, and ends with 0 when all are`() throws
        {
            let simulator = try SimulatorProcess(sender)
            try PartReports.send(0, stage, simulator, sender)
            let early = try sender.command(["status", stage.directory])
            #expect(early.ending == .exited(2), "\(early)")
            #expect(early.output.hasPrefix("a run in 3 parts: 1 complete, 2 not begun\n"), "\(early)")
            #expect(early.output.contains("part 2: 0 of 40 rows have ended: not begun"), "\(early)")
            #expect(
                early.outputLines.last?.hasPrefix("rows=120 ended=40 may_be_sent=0 not_sent=80 ") == true, "\(early)")
            #expect(try states() == ["complete", "waiting", "waiting"])
            for number in [1, 2] { try PartReports.send(number, stage, simulator, sender) }
            let late = try sender.command(["status", stage.directory])
            #expect(late.ending == .exited(0) && late.outputLines.count == 2, "\(late)")
            let resumed = try sender.command(["resume", stage.directory])
            #expect(resumed.ending == .exited(0) && resumed.output == late.output, "\(resumed)")
            let sums = try status()
            #expect(sums["ended"] as? Int == 120 && (sums["outcomes"] as? [String: Int])?["accepted"] == 120, "\(sums)")
        }

        @Test func `run does not send its rows into the directory of a run in parts`() throws {
            let simulator = try SimulatorProcess(sender)
            try PartReports.send(0, stage, simulator, sender)
            let campaign = sender.scratch.path("campaign.yaml")
            for command in ["run", "send"] {
                let refused = try sender.command(
                    [
                        command, campaign, "--input", stage.inputs[1], "--to", "localhost:\(simulator.port)",
                        "--run-dir", stage.directory,
                    ] + sender.credentials.flags)
                #expect(refused.ending == .exited(64), "\(refused)")
                #expect(refused.errors.contains("\(stage.directory) holds a run in parts"), "\(refused)")
            }
            #expect(try simulator.stop().values.allSatisfy { $0.received == 1 })
            #expect(try status()["ended"] as? Int == 40)
        }

        @Test func `control stop tells the program that divided the rows to resume no part`() throws {
            let simulator = try SimulatorProcess(sender, script: .slow)
            let nobody = try sender.command(["control", stage.directory, "stop"])
            #expect(nobody.ending == .exited(69), "\(nobody)")
            let file = stage.directory + "/stop"
            #expect(!FileManager.default.fileExists(atPath: file))
            let process = try sender.startSlowly(simulator, part(0), rows: 20_000)
            defer { _ = process.stop(SIGKILL) }
            let stopped = try sender.command(["control", stage.directory, "stop"])
            #expect(stopped.ending == .exited(0), "\(stopped)")
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(text.contains(#""part": -1, "exit_code": 75"#), "\(text)")
        }

        @Test func `a directory of nights names the runs in parts that are not complete`() throws {
            let simulator = try SimulatorProcess(sender)
            try PartReports.send(0, stage, simulator, sender)
            let nights = URL(filePath: stage.directory).deletingLastPathComponent().path
            let early = try sender.command(["status", nights])
            #expect(early.ending == .exited(2), "\(early)")
            let sentence = "80 rows are left in 2 of 3 parts: call the program again that divided the rows"
            #expect(early.outputLines == ["not finished: \(stage.directory): \(sentence)"], "\(early)")
            let line = try sender.command(["status", nights, "--json"])
            #expect(line.output.contains(#""left":80"#) && line.output.contains(#""ending":"unfinished""#), "\(line)")
            for number in [1, 2] { try PartReports.send(number, stage, simulator, sender) }
            let late = try sender.command(["status", nights])
            #expect(late.ending == .exited(0) && late.outputLines == ["no run is unfinished"], "\(late)")
            try Data("nothing".utf8).write(to: URL(filePath: stage.directory + "/manifest.json"))
            let damaged = try sender.command(["status", nights])
            #expect(damaged.ending == .exited(2) && damaged.errors.contains("manifest.json"), "\(damaged)")
        }

        @Test func `status of a complete run names the command that sends unavailable rows again`() throws {
            // The parts have the same tokens.
            let rule = Script.Rule(share: 0.3, status: 503, reason: "ServiceUnavailable", times: 3)
            let simulator = try SimulatorProcess(sender, script: .init(seed: 1, rules: [rule]))
            for number in 0..<3 {
                try PartReports.send(number, stage, simulator, sender, ["--attempts", "1"], code: 2)
            }
            let rows = try #require((try status()["outcomes"] as? [String: Int])?["unavailable"])
            let credentials = "--key-file KEY_FILE --key-id KEY_ID --team-id TEAM_ID --retry-unavailable"
            let all = try sender.command(["status", stage.directory])
            let command = "apns-batch resume \(stage.directory) \(credentials)"
            #expect(
                rows > 0 && all.outputLines.contains("to send \(rows) unavailable rows again: \(command)"), "\(all)")
            let one = try sender.command(["status", part(0)])
            #expect(one.output.contains(" again: apns-batch resume \(part(0)) \(credentials)\n"), "\(one)")
        }

        @Test func `a part whose ledger is damaged is named, and the others count`() throws {
            let simulator = try SimulatorProcess(sender)
            for number in [0, 1] { try PartReports.send(number, stage, simulator, sender) }
            try Data("nothing".utf8).write(to: URL(filePath: part(1) + "/ledger"))
            let finished = try sender.command(["status", stage.directory])
            #expect(finished.ending == .exited(2), "\(finished)")
            #expect(finished.output.contains("1 its record cannot be read") && finished.output.contains("ended=40 "))
            #expect(try states() == ["complete", "damaged", "waiting"])
        }

        @Test func `a killed part is resumed by the directory of all parts, and nothing is sent twice`() throws {
            let simulator = try SimulatorProcess(sender, script: .slow)
            let process = try sender.startSlowly(simulator, part(1), rows: 1_000)
            #expect(try states() == ["waiting", "sending", "waiting"])
            _ = process.stop(SIGKILL)
            #expect(try states() == ["waiting", "stopped", "waiting"])
            let shown = try sender.command(["status", stage.directory])
            let credentials = "--key-file KEY_FILE --key-id KEY_ID --team-id TEAM_ID"
            #expect(
                shown.output.contains("to continue: apns-batch resume \(stage.directory) \(credentials)"), "\(shown)")
            let flags = ["--on-unknown", "report"] + sender.credentials.flags
            let resumed = try sender.command(["resume", stage.directory] + flags)
            // Two parts were not begun.
            #expect(resumed.ending == .exited(75), "\(resumed)")
            #expect(resumed.errors.contains("2 of 3 parts were not begun"), "\(resumed)")
            #expect(try states() == ["waiting", "complete", "waiting"])
            #expect(try simulator.stop().values.allSatisfy { $0.received == 1 })
        }

        @Test func `a part whose token is gone says which credentials it needs`() throws {
            let simulator = try SimulatorProcess(sender)
            let token = "\(stage.directory)/token"
            let key = ["--key-file", sender.credentials.providerKey, "--key-id", TestCredentials.keyID]
            let made = try sender.command(
                ["provider-token", "--team-id", TestCredentials.teamID, "--output", token] + key)
            try #require(made.ending == .exited(0), "\(made)")
            let campaign = try sender.scratch.write("template: \(Sender.template)\n", to: "campaign.yaml")
            let sent = try sender.command([
                "run", campaign, "--input", stage.inputs[0], "--to", "localhost:\(simulator.port)", "--topic",
                "com.example.app", "--ca-file", sender.credentials.authority, "--run-dir", part(0),
                "--provider-token-file", token,
            ])
            try #require(sent.ending == .exited(0), "\(sent)")
            try FileManager.default.removeItem(atPath: token)
            for directory in [part(0), stage.directory] {
                let refused = try sender.command(["resume", directory, "--retry-unavailable"])
                #expect(refused.ending == .exited(64), "\(refused)")
                #expect(refused.errors.contains("give --key-file, --key-id and --team-id"), "\(refused)")
            }
            let resumed = try sender.command(
                ["resume", part(0), "--retry-unavailable", "--team-id", TestCredentials.teamID] + key)
            #expect(resumed.ending == .exited(0), "\(resumed)")
        }

        @Test func `control reaches the parts at work and divides a rate among them`() throws {
            let simulator = try SimulatorProcess(sender, script: .slow)
            let nobody = try sender.command(["control", stage.directory, "rate", "100/s"])
            #expect(nobody.ending == .exited(69), "\(nobody)")
            let processes = try [0, 1].map { try sender.startSlowly(simulator, part($0), rows: 20_000) }
            defer { for process in processes { _ = process.stop(SIGKILL) } }
            let done = try sender.command(["control", stage.directory, "rate", "100/s"])
            #expect(done.ending == .exited(0), "\(done)")
            #expect(done.outputLines == ["part 0: rate 50/s", "part 1: rate 50/s"], "\(done)")
            let spread = try sender.command(["control", stage.directory, "spread", "2h"])
            #expect(spread.ending == .exited(64) && spread.errors.contains("give a rate instead"), "\(spread)")
        }

        @Test func `while the program that divided the rows is at work, nobody is told to call it again`() throws {
            let simulator = try SimulatorProcess(sender)
            try PartReports.send(0, stage, simulator, sender)
            let lock = stage.directory + "/lock"
            _ = FileManager.default.createFile(atPath: lock, contents: nil)
            let nights = URL(filePath: stage.directory).deletingLastPathComponent().path
            let commands = [["status", stage.directory], ["status", nights]]
            for command in commands {
                let finished = try Child.run(
                    "flock", [lock, Tools.command] + command, name: "flock", in: sender.scratch, seconds: 60)
                #expect(finished.ending == .exited(2), "\(finished)")
                #expect(finished.output.contains(" at work") || finished.output.contains("working on"), "\(finished)")
                #expect(!finished.output.contains("call the program again"), "\(finished)")
                let idle = try sender.command(command)
                #expect(idle.output.contains("call the program again"), "\(idle)")
            }
        }

        @Test(.enabled(if: geteuid() == 0))
        func `a directory that cannot be looked into is named, and is no night that is finished`() throws {
            let simulator = try SimulatorProcess(sender)
            for number in 0..<3 { try PartReports.send(number, stage, simulator, sender) }
            let nights = URL(filePath: stage.directory).deletingLastPathComponent().path
            let ofFileSystem = nights + "/lost+found"
            try FileManager.default.createDirectory(atPath: ofFileSystem, withIntermediateDirectories: false)
            for directory in [ofFileSystem, stage.directory] {
                chmod(directory, 0o700)
                chown(directory, 54321, 54321)
            }
            /// Root without its rights to files of others: the checkout may be in a folder that only root can enter.
            func asOther(_ arguments: [String]) throws -> Finished {
                try Child.run(
                    "setpriv", ["--bounding-set", "-dac_override,-dac_read_search", Tools.command] + arguments,
                    name: "setpriv", in: sender.scratch, seconds: 60)
            }
            let all = try asOther(["status", nights])
            #expect(all.ending == .exited(2), "\(all)")
            #expect(
                all.errors.contains("\(stage.directory)/ledger") && all.errors.contains("Permission denied"), "\(all)")
            #expect(!all.output.contains("no run is unfinished") && !all.errors.contains("lost+found"), "\(all)")
            let one = try asOther(["status", stage.directory])
            #expect(one.ending != .exited(0) && one.errors.contains("Permission denied"), "\(one)")
        }

        @Test func `a run that was moved finds its campaign and its rows where they are now`() throws {
            let rule = Script.Rule(share: 1, status: 503, reason: "ServiceUnavailable", times: 1)
            let simulator = try SimulatorProcess(sender, script: .init(seed: 1, rules: [rule]))
            for folder in ["campaign", "input"] {
                try FileManager.default.createDirectory(
                    atPath: "\(stage.directory)/\(folder)", withIntermediateDirectories: true)
            }
            let rows = stage.directory + "/input/part-00000.csv"
            try FileManager.default.moveItem(atPath: stage.inputs[0], toPath: rows)
            try FileManager.default.copyItem(atPath: Sender.template, toPath: stage.directory + "/campaign/t.json")
            let campaign = stage.directory + "/campaign/campaign.yaml"
            try Data("template: t.json\n".utf8).write(to: URL(filePath: campaign))
            let sent = try sender.command(
                [
                    "run", campaign, "--input", rows, "--to", "localhost:\(simulator.port)", "--run-dir", part(0),
                    "--attempts", "1",
                ] + sender.credentials.flags)
            try #require(sent.ending == .exited(2), "\(sent)")
            let moved = stage.directory + "-moved"
            try FileManager.default.moveItem(atPath: stage.directory, toPath: moved)
            let resumed = try sender.command(
                ["resume", moved + "/parts/00000", "--retry-unavailable", "--attempts", "3"] + sender.credentials.flags)
            #expect(resumed.ending == .exited(0), "\(resumed)")
            try RunResults(moved + "/parts/00000").expectComplete(rows: 40)
        }

        @Test func `a part that begins after its end, by hand, ends its rows as expired`() throws {
            let simulator = try SimulatorProcess(sender)
            try PartReports.send(0, stage, simulator, sender, ["--not-after", "2020-01-01T00:00:00Z"], code: 2)
            #expect((try status()["outcomes"] as? [String: Int])?["expired"] == 40)
            #expect(try simulator.stop().isEmpty)
        }
    }
}
