import Foundation
import Testing

extension EndToEnd {
    /// Tests of the output of a run that scripts read.
    @Suite struct Summaries {
        @Test func `the last line, summary.json and results.csv have their form`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let input = try sender.makeRows(300)
            let (finished, results) = try sender.send(input, to: simulator.port, ["--template", Sender.template])

            let last = try #require(finished.outputLines.last)
            let form =
                /rows=300 accepted=300 rejected=0 unavailable=0 invalid=0 unknown=0 expired=0 suppressed=0 left=0 may_be_sent=0 not_sent=0 not_read=0 resent=0 seconds=[0-9.]+ per_second=[0-9.]+/
            #expect(last.wholeMatch(of: form) != nil, "\(last)")

            let keys: Set = [
                "rows", "accepted", "rejected", "unavailable", "invalid", "unknown", "expired", "suppressed",
                "attempts", "sessions", "all_sessions", "last_session", "reasons", "invalid_rules", "campaign",
            ]
            #expect(keys.subtracting(results.summary.keys) == [])
            for work in [results.allSessions, results.lastSession] {
                for key in ["elapsed_seconds", "accepted_per_second", "connections_opened"] {
                    #expect((work[key] as? NSNumber)?.doubleValue ?? -1 > 0, "\(key)")
                }
                let times = try #require(work["answer_ms"] as? [String: Double])
                let order = ["p50", "p90", "p99", "max"].map { times[$0] ?? -1 }
                #expect(order == order.sorted() && order[0] > 0 && times["samples"] == 300)
                #expect(work["requests"] as? Int == 300 && work["retries"] as? [String: Int] == [:])
            }
            #expect((results.process["peak_rss_bytes"] as? NSNumber)?.intValue ?? 0 > 1 << 20)
            #expect((results.process["cpu_seconds"] as? NSNumber)?.doubleValue ?? 0 > 0)
            #expect(Tools.loops.contains(results.process["loop"] as? String ?? ""))
        }

        @Test func `without a terminal, progress is plain lines on standard error`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let input = try sender.makeRows(300)
            let (finished, _) = try sender.send(input, to: simulator.port, ["--template", Sender.template])
            #expect(!finished.errors.contains("\u{1b}") && !finished.errors.contains("\r"))
            #expect(!finished.output.contains("\u{1b}"))
        }

        @Test func `a run directory that holds results is not written over`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let input = try sender.makeRows(5)
            let directory = sender.newRunDirectory()
            let arguments = sender.arguments(
                input, to: simulator.port, runDirectory: directory, ["--template", Sender.template])
            #expect(try sender.command(arguments).ending == .exited(0))
            let before = try String(contentsOfFile: directory + "/results.csv", encoding: .utf8)
            let again = try sender.command(arguments)
            #expect(again.ending == .exited(64) || again.ending == .exited(74), "\(again)")
            #expect(try String(contentsOfFile: directory + "/results.csv", encoding: .utf8) == before)
            #expect(try simulator.stop().count == 5)
        }

        @Test func `a campaign file says what flags say, and flags win`() throws {
            let sender = try Sender()
            let (server, recording) = try Peer.python(sender)
            try sender.scratch.write("token,name\n00aa,Ada\n", to: "rows.csv")
            try sender.scratch.write("{\"aps\":{\"alert\":\"Hi {{name}}\"}}", to: "payload.json")
            let campaign = try sender.scratch.write(
                """
                input: rows.csv
                template: payload.json
                to: localhost:\(server.port)
                topic: com.example.file
                priority: 5
                key_file: AuthKey.p8
                key_id: \(TestCredentials.keyID)
                team_id: \(TestCredentials.teamID)
                ca_file: ca.pem

                """, to: "campaign.yaml")
            let finished = try sender.command(
                ["send", campaign, "--topic", "com.example.flag", "--run-dir", sender.newRunDirectory()])
            #expect(finished.ending == .exited(0), "\(finished)")
            server.stop()
            let request = try #require(recording.requests.first)
            #expect(request["apns-topic"] == "com.example.flag")
            #expect(request["apns-priority"] == "5")
            #expect(request.body == Data("{\"aps\":{\"alert\":\"Hi Ada\"}}".utf8))
        }
    }
}
