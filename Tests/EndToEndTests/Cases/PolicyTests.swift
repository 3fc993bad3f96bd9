import Foundation
import Testing

extension EndToEndRuns {
    /// Tests of the policies that stop a campaign, which are the canary, the circuit breaker and the deadline.
    @Suite struct Policies {
        private static let template = ["--template", Tools.fixture("campaign/plain.json")]

        @Test func `a canary that passes goes over one connection, and the rest follows`() throws {
            let sender = try Sender()
            let (server, recording) = try Peer.python(sender, streams: 10)
            let input = try sender.makeRows(5000, "--plain")
            let (_, results) = try sender.send(
                input, to: server.port, Self.template + ["--lanes", "2", "--canary", "600"])
            server.stop()
            results.expectComplete(rows: 5000)
            #expect(results.count("accepted") == 5000)
            let first = recording.requests.prefix(600).map(\.connection)
            #expect(Set(first).count == 1, "over one connection")
            let sent = recording.requests.prefix(600).map { String($0.path.dropFirst("/3/device/".count)) }
            #expect(Set(sent) == Set(results.lines.prefix(600).map(\.token)), "the first rows")
        }

        @Test func `a canary that fails: exit code 69, and the rest is not sent`() throws {
            let sender = try Sender()
            let script = Script(seed: 1, rules: [.init(share: 0.5, status: 400, reason: "BadDeviceToken")])
            let simulator = try SimulatorProcess(sender, script: script)
            let input = try sender.makeRows(5000, "--plain")
            let (finished, results) = try sender.send(
                input, to: simulator.port,
                Self.template + ["--lanes", "2", "--canary", "100", "--canary-max-rejected", "10%"], expecting: 69)
            #expect(
                finished.errors.contains(
                    /canary: \d+ rejected of the first 100 rows, more than 10 \(10.0 %\); the rest was not sent/),
                "\(finished)")
            results.expectSummaryAgrees()
            #expect(results.lines.count <= 100)
            #expect(try simulator.stop().count == results.lines.count)
        }

        @Test(arguments: ["1", "3"])
        func `a share of a reason above its limit: exit code 69 with reason, share and remedy`(lanes: String) throws {
            let sender = try Sender()
            let script = Script(seed: 1, rules: [.init(share: 0.5, status: 410, reason: "Unregistered")])
            let simulator = try SimulatorProcess(sender, script: script)
            let input = try sender.makeRows(100_000, "--plain")
            let (finished, results) = try sender.send(
                input, to: simulator.port,
                Self.template + [
                    "--lanes", lanes, "--stop-at", "Unregistered=30%", "--stop-window", "1000", "--stop-minimum", "200",
                ], expecting: 69)
            #expect(
                finished.errors.contains(
                    /for team DEF123GHIJ: \d+ of \d+ answers \([0-9.]+ %, limit 30 %\) are Unregistered: .*; delete the token/
                ),
                "\(finished)")
            results.expectSummaryAgrees()
            #expect(results.lines.count >= 200 && results.lines.count < 100_000)
            #expect(try simulator.stop().count == results.lines.count)
        }

        @Test func `tokens of the other environment stop a campaign, unless that is switched off`() throws {
            let sender = try Sender()
            let script = Script(seed: 1, rules: [.init(share: 1, status: 400, reason: "BadDeviceToken")])
            let simulator = try SimulatorProcess(sender, script: script)
            let input = try sender.makeRows(3000, "--plain")
            let (finished, stopped) = try sender.send(input, to: simulator.port, Self.template, expecting: 69)
            #expect(
                finished.errors.contains(
                    "are BadDeviceToken: do the tokens belong to the other environment, production or sandbox?"),
                "\(finished)")
            #expect(stopped.lines.count < 3000)
            let (_, all) = try sender.send(
                input, to: simulator.port, Self.template + ["--stop-at", "BadDeviceToken=never"], expecting: 2)
            #expect(all.count("rejected") == 3000)
        }

        @Test(arguments: [404, 301, 401, 403])
        func `a refusal without a reason for every row stops a campaign: exit code 69, and the rest is not sent`(
            status: Int
        ) throws {
            let sender = try Sender()
            let script = try sender.scratch.write("rules: [{ share: 1, status: \(status) }]\n", to: "script.yaml")
            let input = try sender.makeRows(5000, "--plain")
            let directory = sender.newRunDirectory()
            let finished = try sender.command(
                ["send", "--input", input, "--to", "simulator", "--simulator-script", script, "--run-dir", directory]
                    + Self.template)
            #expect(finished.ending == .exited(69), "\(finished)")
            #expect(
                finished.errors.contains(
                    /all of the first \d+ answers are refusals \(such as \d+\) that no single device can cause/
                ),
                "\(finished)")
            let results = try RunResults(directory)
            results.expectSummaryAgrees()
            #expect((500..<5000).contains(results.lines.count))
        }

        @Test func `a campaign file says the same as flags, and flags win reason by reason`() throws {
            let sender = try Sender()
            let script = Script(seed: 1, rules: [.init(share: 1, status: 400, reason: "BadDeviceToken")])
            let simulator = try SimulatorProcess(sender, script: script)
            let campaign = try sender.scratch.write(
                """
                not_after: 1h
                retry_delay: 10
                unavailable_delay: 20
                retry_after_max: 30
                retry_rows: 1000
                stop_at: { BadDeviceToken: 10%, any: never }
                stop_window: 100
                stop_minimum: 50
                canary: 10
                canary_max_rejected: 100%

                """, to: "campaign.yaml")
            let input = try sender.makeRows(2000, "--plain")
            let (finished, stopped) = try sender.send(
                input, to: simulator.port, [campaign] + Self.template, expecting: 69)
            #expect(finished.errors.contains(/limit 10 %\) are BadDeviceToken/), "\(finished)")
            #expect(stopped.lines.count < 2000)
            let (_, all) = try sender.send(
                input, to: simulator.port,
                [campaign] + Self.template + ["--stop-at", "BadDeviceToken=never", "--name", "another"],
                expecting: 2)
            #expect(all.count("rejected") == 2000)
        }

        @Test(arguments: [
            (["--stop-window", "1"], "--stop-window: expected 10 to 1000000000 answers, found 1"),
            (["--canary-max-rejected", "5%"], "--canary-max-rejected needs --canary"),
        ])
        func `a wrong policy: exit code 64, nothing sent`(arguments: [String], says: String) throws {
            let sender = try Sender()
            let input = try sender.makeRows(1, "--plain")
            let finished = try sender.command(
                ["send", "--input", input, "--to", "simulator", "--run-dir", sender.newRunDirectory()] + Self.template
                    + arguments)
            #expect(finished.ending == .exited(64), "\(finished)")
            #expect(finished.errors.contains(says), "\(finished)")
        }

        @Test func `a deadline that passes: exit code 2, and every row is sent or expired`() throws {
            let sender = try Sender()
            let (server, recording) = try Peer.python(sender, streams: 5)
            let input = try sender.makeRows(100_000, "--plain")
            let (_, results) = try sender.send(
                input, to: server.port, Self.template + ["--lanes", "1", "--connections", "1", "--not-after", "3s"],
                expecting: 2)
            server.stop()
            results.expectComplete(rows: 100_000)
            #expect(results.count("expired") > 0)
            #expect(results.count("accepted") + results.count("expired") == 100_000)
            #expect(recording.requests.count == results.count("accepted"))
        }
    }
}
