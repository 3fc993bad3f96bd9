import Foundation
import Testing

extension EndToEndRuns {
    /// Tests of expectations, verdict and history, as an operator sees them.
    @Suite struct Expectations {
        /// A campaign with a file of 50 rows and a state directory.
        private struct Night {
            let sender: Sender
            let simulator: SimulatorProcess
            let file: String
            let input: String

            init(_ settings: String = "", script: Script? = nil) throws {
                sender = try Sender()
                simulator = try SimulatorProcess(sender, script: script)
                input = try sender.makeRows(50)
                file = try sender.scratch.write(
                    """
                    input: \(input)
                    template: \(Sender.template)
                    expiration: 1h
                    to: localhost:\(simulator.port)
                    state_dir: state
                    \(settings)

                    """, to: "nightly.yaml")
            }

            /// Sends the rows, also those that an earlier call has sent, as the export of another night.
            func send(_ more: String...) throws -> Finished {
                try sender.command(
                    ["send", file, "--again", "--run-dir", sender.newRunDirectory()] + sender.credentials.flags + more)
            }
        }

        @Test func `the verdict is printed before the last line, and stands in summary.json`() throws {
            let night = try Night("expect: [accepted >= 95%]")
            let directory = night.sender.newRunDirectory()
            let finished = try night.send("--run-dir", directory)
            #expect(finished.ending == .exited(0), "\(finished)")
            let verdict = try #require(finished.outputLines.dropLast().last)
            #expect(verdict.hasPrefix("OK: 50 of 50 rows accepted, in "), "\(finished)")
            let summary = try RunResults(directory).summary
            #expect(summary["verdict"] as? String == String(verdict))
            let judged = try #require((summary["expectations"] as? [[String: Any]])?.first)
            #expect(judged["text"] as? String == "accepted >= 95%" && judged["metric"] as? String == "accepted")
            #expect(judged["limit"] as? Double == 47.5 && judged["found"] as? Double == 50)
            #expect(judged["holds"] as? Bool == true)
        }

        @Test func `an expectation that does not hold: exit code 2, and again when the run is resumed`() throws {
            let script = Script(seed: 1, rules: [.init(share: 0.5, status: 410, reason: "Unregistered")])
            let night = try Night("expect: [reason:Unregistered <= 1%]", script: script)
            let directory = night.sender.newRunDirectory()
            let finished = try night.send("--run-dir", directory)
            #expect(finished.ending == .exited(2), "\(finished)")
            let verdict = try #require(finished.outputLines.dropLast().last)
            #expect(verdict.hasPrefix("LOOK: expected reason:Unregistered <= 1%, found "), "\(finished)")
            #expect(verdict.hasSuffix("; Unregistered: delete the token; the app sends a new one when it is opened"))
            let again = try night.sender.command(["resume", directory])
            #expect(again.ending == .exited(2) && again.outputLines.dropLast().last == verdict, "\(again)")
            let loosened = try night.sender.command(["resume", directory, "--expect", "rejected <= 100%"])
            #expect(loosened.ending == .exited(0), "\(loosened)")
        }

        @Test func `half an export: exit code 64, nothing is sent, and the message names place and median`() throws {
            let night = try Night("expect:\n  - rows within 30% of median")
            for _ in 1...3 { #expect(try night.send().ending == .exited(0)) }
            let half = try night.sender.makeRows(25)
            let finished = try night.send("--input", half)
            #expect(finished.ending == .exited(64), "\(finished)")
            #expect(
                finished.errors.contains(
                    "nightly.yaml:7:3: expect: \(half): expected rows within 30% of median, found 25 (median 50 of 3 nights)"
                        + "; nothing was sent"), "\(finished)")
            #expect(try night.simulator.stop().values.allSatisfy { $0.received == 3 })
        }

        /// Flags with which nothing is sent.
        static let refused: [(flags: [String], says: String)] = [
            (["--expect", "acepted > 0"], "--expect: acepted > 0: unknown metric \"acepted\"; did you mean accepted?"),
            (["--expect", "rows >= 51"], "expected rows >= 51, found 50; nothing was sent"),
            (["--expect", "rows < 50"], "expected rows < 50, found 50; nothing was sent"),
            (["--expect", "rows > 5", "--expect", "rows < 3"], "--expect: rows > 5 and rows < 3 cannot both hold"),
            (["--require-fresh", "0"], "--require-fresh: expected a duration such as 20h, found \"0\""),
        ]

        @Test func `expectations that are wrong, or not met by the input: exit code 64, for check as well`() throws {
            let night = try Night()
            for (flags, says) in Self.refused {
                let finished = try night.sender.command(
                    ["send", night.file, "--run-dir", night.sender.newRunDirectory()] + night.sender.credentials.flags
                        + flags)
                #expect(finished.ending == .exited(64) && finished.errors.contains(says), "\(finished)")
                let findings = night.sender.scratch.path("findings.csv")
                let check = try night.sender.command(
                    ["check", night.file, "--topic", "com.example.app", "--findings", findings] + flags)
                #expect(check.ending == .exited(64) && check.errors.contains(says), "\(check)")
            }
            #expect(try night.simulator.stop().isEmpty)
        }

        @Test func `yesterday's file is not sent`() throws {
            let night = try Night("require_fresh: 20h")
            try FileManager.default.setAttributes(
                [.modificationDate: Date.now.addingTimeInterval(-86_400)], ofItemAtPath: night.input)
            let finished = try night.send()
            #expect(finished.ending == .exited(75), "\(finished)")
            #expect(
                finished.errors.contains("24 h 0 min ago, and may be 20 h 0 min old; nothing was sent"), "\(finished)")
            let piped = try Child.run(
                "/bin/sh",
                [
                    "-c",
                    "cat \"$1\" | \"$0\" send \"$2\" --input - \(night.sender.credentials.flags.joined(separator: " "))",
                ]
                    + [Tools.command, night.input, night.file], name: "piped", in: night.sender.scratch)
            #expect(piped.ending == .exited(64), "\(piped)")
            #expect(piped.errors.contains("require_fresh: <stdin> is not a file"), "\(piped)")
        }

        @Test func `a file from the future is not sent, but one of a clock that is a little ahead is`() throws {
            let night = try Night("require_fresh: 20h")
            try FileManager.default.setAttributes(
                [.modificationDate: Date.now.addingTimeInterval(86_400)], ofItemAtPath: night.input)
            let future = try night.send()
            #expect(future.ending == .exited(75), "\(future)")
            #expect(future.errors.contains("from now: set the clock, or the time of the file"), "\(future)")
            try FileManager.default.setAttributes(
                [.modificationDate: Date.now.addingTimeInterval(120)], ofItemAtPath: night.input)
            #expect(try night.send().ending != .exited(75))
        }

        @Test func `runs lists what was killed with the command that finishes it, and what was refused`() throws {
            let night = try Night(
                "run_dir: runs/{campaign}/{date}\ntimezone: Asia/Tokyo\nrate: 10/s\nrequire_fresh: 20h")
            let child = try Child(
                Tools.command, ["run", night.file] + night.sender.credentials.flags, name: "run",
                in: night.sender.scratch)
            #expect(
                eventually(seconds: 60) {
                    // Its rows are known once its ledger has them.
                    let output = (try? night.sender.command(["runs", night.file]))?.output ?? ""
                    return output.contains(" running\n") && output.contains(#/[0-9] rows are left/#)
                })
            child.stop(SIGKILL)
            let table = try night.sender.command(["runs", night.file])
            #expect(table.ending == .exited(0) && table.output.hasPrefix("times: Asia/Tokyo\n"), "\(table)")
            #expect(table.outputLines.contains { $0.hasSuffix(" unfinished") }, "\(table)")
            let advice = try #require(table.outputLines.first { $0.contains(" left: apns-batch resume ") })
            let path = String(try #require(advice.split(separator: " ").last))
            #expect(table.outputLines.contains { $0.hasPrefix("\(path.split(separator: "/").last!) ") }, "\(table)")
            let status = try night.sender.command(["status", path])
            #expect(status.output.contains("to continue: apns-batch resume \(path)\n"), "\(status)")

            let late = try night.sender.command(
                ["run", night.file, "--input", night.input + "-late"] + night.sender.credentials.flags)
            #expect(late.ending == .exited(75), "\(late)")
            let refused = try night.sender.command(["runs", night.file, "--json"])
            let entries = try refused.outputLines.map {
                try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
            }
            // Both may be of the same second.
            #expect(Set(entries.map { $0["ending"] as? String }) == ["unfinished", "refused"], "\(refused)")
            let reasons = entries.compactMap { $0["reason"] as? String }
            #expect(reasons.count == 1 && reasons[0].contains("-late: "), "\(refused)")
        }

        @Test func `runs lists the nights in 80 columns, and as JSON`() throws {
            let night = try Night("expect: [duration < 1h]")
            #expect(try night.send().ending == .exited(0))
            let bad = try night.sender.scratch.write(
                "token,first_name,badge,vip,note,extras\nx,A,1,true,,{}\n", to: "b.csv")
            #expect(try night.send("--input", bad, "--stop-at", "invalid=never").ending == .exited(2))
            let table = try night.sender.command(["runs", night.file])
            #expect(table.ending == .exited(0), "\(table)")
            let lines = table.outputLines
            #expect(lines[0].hasPrefix("times: "), "\(table)")
            #expect(
                lines[1] == "night      began       campaign     exit        rows    accepted seconds verdict",
                "\(table)")
            #expect(lines[2].hasSuffix(" nightly         0          50          50       0 OK"), "\(table)")
            #expect(lines[4].hasSuffix(" nightly         2           1           0       0 LOOK"), "\(table)")
            #expect(
                lines[5].hasPrefix("    expected accepted > 0, found 0; expected invalid == 0, found 1;"), "\(table)")
            // A path is as long as it is.
            #expect(lines.allSatisfy { $0.count <= 80 || $0.hasPrefix("    /") })
            let state = night.sender.scratch.path("state")
            let json = try night.sender.command(["runs", "--state-dir", state, "--campaign", "nightly", "--json"])
            let runs = try json.outputLines.map {
                try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
            }
            #expect(runs.map { $0["exit_code"] as? Int } == [0, 2])
            #expect((runs[0]["figures"] as? [String: Any])?["accepted"] as? Int == 50)
            let none = try night.sender.command(["runs", "--state-dir", state, "--campaign", "weekly"])
            #expect(none.ending == .exited(0) && none.output == "no runs\n")
            #expect(try night.sender.command(["runs"]).ending == .exited(64))
            #expect(try night.sender.command(["runs", "--state-dir", state + "-"]).ending == .exited(64))
        }
    }
}
