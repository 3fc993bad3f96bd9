import Foundation
import Testing

extension EndToEnd {
    /// Tests that send rows to the simulator in another process. Each row has one line in the results, each line agrees
    /// with the script's answer to its token, and the simulator's own counts agree too.
    @Suite struct MainJob {
        /// The run is many times slower under a sanitizer.
        static let rows = Tools.sanitizer == nil ? 20_000 : 4_000

        static let script = Script(
            seed: 7,
            rules: [
                .init(share: 0.03, status: 410, reason: "Unregistered", timestamp: 1_700_000_000_123),
                .init(share: 0.02, status: 400, reason: "BadDeviceToken"),
                .init(share: 0.01, status: 400, reason: "NobodyKnowsThisOne"),
            ])

        @Test(arguments: Tools.loops)
        func `every row ends as the line that the script says, and the simulator counted the same`(loop: String) throws
        {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender, script: Self.script, loop: loop)
            let input = try sender.makeRows(Self.rows)
            let (finished, results) = try sender.send(
                input, to: simulator.port, ["--template", Sender.template, "--loop", loop])
            let counts = try simulator.stop()

            results.expectComplete(rows: Self.rows)
            #expect(results.process["loop"] as? String == loop)
            #expect(counts.count == Self.rows)
            for line in results.lines {
                Self.check(line, counts[line.token])
            }
            let rejected = results.lines.count { Self.script.rule(for: $0.token) != nil }
            #expect(results.count("rejected") == rejected && rejected > Self.rows / 50)
            #expect(finished.outputLines.last?.hasPrefix("rows=\(Self.rows) accepted=") == true)
        }

        private static func check(_ line: ResultLine, _ count: SimulatorProcess.Count?) {
            let rule = script.rule(for: line.token)
            #expect(line.outcome == (rule == nil ? "accepted" : "rejected"))
            #expect(line.status == (rule.map { "\($0.status)" } ?? "200"))
            #expect(line.reason == (rule?.reason ?? ""))
            #expect(line.timestamp == (rule?.timestamp.map { "\($0)" } ?? ""))
            #expect(line.attempts == 1)
            #expect(count == .init(received: 1, accepted: rule == nil ? 1 : 0), "\(line.token)")
        }

        @Test(arguments: Tools.loops)
        func `raw payloads go as templates do`(loop: String) throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender, loop: loop)
            let rows = Self.rows / 4
            let input = try sender.makeRows(rows, "--raw")
            let (_, results) = try sender.send(input, to: simulator.port, ["--loop", loop])
            results.expectComplete(rows: rows)
            #expect(results.count("accepted") == rows)
            #expect(try simulator.stop().count == rows)
        }

        @Test func `a row that got 503 is sent again until it is accepted`() throws {
            let sender = try Sender()
            let script = Script(
                seed: 3, rules: [.init(share: 0.05, status: 503, reason: "ServiceUnavailable", times: 1)])
            let simulator = try SimulatorProcess(sender, script: script)
            let rows = 1_000
            let input = try sender.makeRows(rows)
            let (_, results) = try sender.send(input, to: simulator.port, ["--template", Sender.template])
            let counts = try simulator.stop()
            results.expectComplete(rows: rows)
            #expect(results.count("accepted") == rows)
            for line in results.lines {
                let expected = script.rule(for: line.token) == nil ? 1 : 2
                #expect(line.attempts == expected)
                #expect(counts[line.token] == .init(received: expected, accepted: 1))
            }
        }

        @Test func `a slow server with long answers loses nothing`() throws {
            let sender = try Sender()
            var script = Self.script
            script.latency = "{ distribution: uniform, min_ms: 1, max_ms: 60 }"
            let simulator = try SimulatorProcess(sender, script: script)
            let rows = Self.rows / 2
            let input = try sender.makeRows(rows)
            let (_, results) = try sender.send(input, to: simulator.port, ["--template", Sender.template])
            results.expectComplete(rows: rows)
            let counts = try simulator.stop()
            for line in results.lines { Self.check(line, counts[line.token]) }
        }

        @Test(arguments: [1, 2, 3])
        func `several lanes share the rows`(lanes: Int) throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let rows = Self.rows / 2
            let input = try sender.makeRows(rows)
            let (_, results) = try sender.send(
                input, to: simulator.port, ["--template", Sender.template, "--lanes", "\(lanes)"])
            results.expectComplete(rows: rows)
            #expect(try simulator.stop().values.allSatisfy { $0 == .init(received: 1, accepted: 1) })
        }

        @Test func `rows come from standard input`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let input = try sender.makeRows(2_000)
            let (_, results) = try sender.send(
                "-", to: simulator.port, ["--template", Sender.template], standardInput: .file(URL(filePath: input)))
            results.expectComplete(rows: 2_000)
            #expect(try simulator.stop().count == 2_000)
        }

        @Test func `the embedded simulator needs no account and no flag but the input`() throws {
            let sender = try Sender()
            let input = try sender.makeRows(500, "--raw")
            let directory = sender.newRunDirectory()
            let finished = try sender.command(["send", "--input", input, "--to", "simulator", "--run-dir", directory])
            #expect(finished.ending == .exited(0), "\(finished)")
            let results = try RunResults(directory)
            results.expectComplete(rows: 500)
            #expect(results.count("accepted") == 500)
        }
    }
}
