import Foundation
import Testing

extension EndToEndRuns {
    /// Tests that `resume` succeeds after the cause that stopped a run was corrected.
    @Suite struct ResumeSettings {
        /// A campaign file, rows and a simulator.
        private struct Stage {
            let sender: Sender
            let simulator: SimulatorProcess
            let rows: Int
            let input: String
            let file: String
            let directory: String

            init(rows: Int = 50, script: Script? = nil) throws {
                sender = try Sender()
                simulator = try SimulatorProcess(sender, script: script)
                self.rows = rows
                input = try sender.makeRows(rows)
                file = sender.scratch.path("campaign.yaml")
                directory = sender.newRunDirectory()
            }

            /// Writes the campaign file. If `keyID` is nil, the right one is used.
            func write(keyID: String = TestCredentials.keyID, _ more: String = "", template: String = Sender.template)
                throws
            {
                try sender.scratch.write(
                    """
                    to: localhost:\(simulator.port)
                    topic: \(TestCredentials.topic)
                    key_file: \(sender.credentials.providerKey)
                    key_id: \(keyID)
                    team_id: \(TestCredentials.teamID)
                    ca_file: \(sender.credentials.authority)
                    template: \(template)
                    input: \(input)
                    \(more)
                    """, to: "campaign.yaml")
            }

            func send(_ more: [String] = []) throws -> Finished {
                try sender.command(["send", file, "--run-dir", directory] + more)
            }

            func resume(_ more: [String] = []) throws -> Finished {
                try sender.command(["resume", directory] + more)
            }

            func expectComplete(_ finished: Finished, accepted: Int, sourceLocation: SourceLocation = #_sourceLocation)
                throws
            {
                #expect(finished.ending == .exited(0), "\(finished)", sourceLocation: sourceLocation)
                let results = try RunResults(directory)
                #expect(results.lines.map(\.row) == Array(1...rows), sourceLocation: sourceLocation)
                #expect(results.count("accepted") == accepted, sourceLocation: sourceLocation)
            }
        }

        @Test func `a key id that is corrected in the campaign file`() throws {
            let stage = try Stage()
            try stage.write(keyID: "WRONGKEY00")
            let sent = try stage.send()
            #expect(sent.ending == .exited(69), "\(sent)")
            let again = try stage.resume()
            #expect(again.ending == .exited(69), "\(again)")
            try stage.write()
            try stage.expectComplete(try stage.resume(), accepted: 50)
        }

        @Test func `a key id that a flag corrects, for this call and the next ones`() throws {
            let stage = try Stage()
            try stage.write()
            let sent = try stage.send(["--key-id", "WRONGKEY00"])
            #expect(sent.ending == .exited(69), "\(sent)")
            #expect(try stage.resume().ending == .exited(69), "the flag of the first call holds on")
            // The key is right now, but the team is wrong.
            let other = try stage.resume(["--key-id", TestCredentials.keyID, "--team-id", "WRONGTEAM0"])
            #expect(other.ending == .exited(69), "\(other)")
            try stage.expectComplete(try stage.resume(["--team-id", TestCredentials.teamID]), accepted: 50)
        }

        @Test func `a limit that was too strict, and a canary that is no longer wanted`() throws {
            let script = Script(seed: 2, rules: [.init(share: 0.3, status: 410, reason: "Unregistered")])
            let stage = try Stage(rows: 2000, script: script)
            try stage.write("stop_at: { Unregistered: 5% }\nstop_minimum: 20\nstop_window: 1000\ncanary: 100")
            let sent = try stage.send()
            #expect(sent.ending == .exited(69), "\(sent)")
            let canary = try stage.resume(["--stop-at", "Unregistered=never"])
            #expect(canary.ending == .exited(69) && canary.errors.contains("canary"), "\(canary)")
            let left = 2000 - (try RunResults(stage.directory).lines.count)
            #expect(left > 0)
            try stage.write("stop_at: { Unregistered: 60% }")
            let done = try stage.resume()
            #expect(done.ending == .exited(0), "\(done)")
            #expect(try RunResults(stage.directory).lines.count == 2000)
        }

        @Test func `an input that moved, if its content is the same`() throws {
            let stage = try Stage(rows: 2000)
            try stage.write("connections: 1\nstop_at: { any: 1% }\nstop_minimum: 1")
            // Every answer is a refusal, so some rows have ended and most have not.
            let sent = try stage.send(["--topic", "com.example.app", "--canary", "1", "--key-id", "WRONGKEY00"])
            #expect(sent.ending == .exited(69), "\(sent)")
            let moved = stage.sender.scratch.path("moved.csv")
            try FileManager.default.moveItem(atPath: stage.input, toPath: moved)
            let missing = try stage.resume(["--key-id", TestCredentials.keyID])
            #expect(missing.ending == .exited(75) && missing.errors.contains("No such file"), "\(missing)")
            #expect(missing.errors.contains("--input"), "\(missing)")

            var bytes = try Data(contentsOf: URL(filePath: moved))
            let place = bytes.count / 2
            bytes[place] = bytes[place] == UInt8(ascii: "1") ? UInt8(ascii: "2") : UInt8(ascii: "1")
            let other = stage.sender.scratch.path("other.csv")
            try bytes.write(to: URL(filePath: other))
            let refused = try stage.resume(["--key-id", TestCredentials.keyID, "--input", other])
            #expect(refused.ending == .exited(64), "\(refused)")
            #expect(refused.errors.contains("--input: \(other) has changed since the run began: rows "), "\(refused)")

            let done = try stage.resume(["--key-id", TestCredentials.keyID, "--input", moved, "--stop-at", "any=never"])
            try stage.expectComplete(done, accepted: 2000)
        }

        @Test func `what changes rows is refused by its name and place`() throws {
            let stage = try Stage()
            try stage.write(keyID: "WRONGKEY00")
            #expect(try stage.send().ending == .exited(69))
            let other = try stage.sender.scratch.write(#"{"aps":{"alert":"other"}}"#, to: "other.json")
            try stage.write(template: other)
            let template = try stage.resume()
            #expect(template.ending == .exited(64), "\(template)")
            #expect(
                template.errors.contains("\(stage.file):7:11: template: changed since the run began"), "\(template)")
            try stage.write()
            for (flags, name) in [
                (["--topic", "com.example.other"], "--topic"), (["--delimiter", ";"], "column"),
                (["--expiration", "5h"], "--expiration"), (["--collapse-id", "x"], "--collapse-id"),
                (["--priority", "5"], "push_type or priority"), (["--to", "production"], "--to"),
                (["--campaign-id", UUID().uuidString], "--campaign-id"), (["--run-dir", "x"], "--run-dir"),
            ] {
                let refused = try stage.resume(flags)
                #expect(refused.ending == .exited(64) && refused.errors.contains(name), "\(flags): \(refused)")
            }
            try stage.expectComplete(try stage.resume(), accepted: 50)
        }
    }
}
