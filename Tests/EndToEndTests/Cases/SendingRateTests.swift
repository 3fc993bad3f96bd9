import Foundation
import Testing

extension EndToEnd {
    /// Tests of limits of requests per second, by the times at which a simulator receives them.
    @Suite struct SendingRates {
        private struct Case: CustomTestStringConvertible {
            var rate: String
            var perSecond: Double
            var rows: Int
            var lanes: Int
            var more: [String] = []
            var script = Script(seed: 3, rules: [])

            var testDescription: String { "\(rate), \(lanes) lanes" }
        }

        private static let cases = [
            Case(rate: "500/s", perSecond: 500, rows: 1000, lanes: 1),
            Case(rate: "5000/s", perSecond: 5000, rows: 10_000, lanes: 2),
            Case(
                rate: "180000/min", perSecond: 3000, rows: 6000, lanes: 2,
                script: Script(
                    seed: 3, rules: [.init(share: 0.2, status: 503, reason: "Shutdown", times: 1)],
                    latency: "{ distribution: uniform, min_ms: 1, max_ms: 30 }",
                    faults: ["{ when: { after: 2000 }, stall: { side: writing, ms: 700 } }"])),
            Case(
                rate: "20000/s", perSecond: 20_000, rows: 30_000, lanes: 1, more: ["--loop", "epoll", "--ramp", "2s"]),
        ]

        /// The requests that a poll of the simulator returned. They arrived between the two times, in nanoseconds.
        private struct Poll {
            var since: UInt64
            var time: UInt64
            var requests: Int
        }

        /// A simulator that is kept waiting by a busy machine reads at once what came before. So it takes three bad runs to fail.
        @Test(arguments: cases)
        private func `no interval has more requests than promised, with retries and several lanes`(
            limit: Case
        ) throws {
            var excess = ["not run"]
            for _ in 1...3 where !excess.isEmpty { excess = try excesses(limit) }
            #expect(excess == [])
        }

        /// Sends a campaign, and returns the intervals that had too many requests.
        private func excesses(_ limit: Case) throws -> [String] {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender, script: limit.script, isTimed: true)
            let input = try sender.makeRows(limit.rows, "--plain")
            let flags = ["--template", Tools.fixture("campaign/plain.json"), "--lanes", "\(limit.lanes)"]
            let (_, results) = try sender.send(input, to: simulator.port, flags + ["--rate", limit.rate] + limit.more)
            results.expectComplete(rows: limit.rows)
            let counts = try simulator.stop()
            let polls = try polls(simulator.arrivals)
            #expect(polls.reduce(0) { $0 + $1.requests } == counts.values.reduce(0) { $0 + $1.received })
            // A lane may be stopped by the system after it has reserved the requests of ten milliseconds.
            let burst = max(1, limit.perSecond / 100) * Double(1 + limit.lanes)
            return [0.01, 0.1, 1].compactMap { seconds in
                let most = Self.mostWithin(UInt64(seconds * 1e9), polls)
                return Double(most) <= limit.perSecond * seconds + burst ? nil : "\(most) in \(seconds) s"
            }
        }

        private func polls(_ path: String) throws -> [Poll] {
            let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
            try #require(lines.first == "monotonic_ns,since_ns,requests")
            return try lines.dropFirst().map { line in
                let fields = line.split(separator: ",").compactMap { UInt64($0) }
                try #require(fields.count == 3)
                return Poll(since: fields[1], time: fields[0], requests: Int(fields[2]))
            }
        }

        /// Returns the largest number of requests that certainly arrived within an interval.
        private static func mostWithin(_ interval: UInt64, _ polls: [Poll]) -> Int {
            var (first, sum, most) = (0, 0, 0)
            for (index, poll) in polls.enumerated() {
                sum += poll.requests
                while first < index, poll.time - polls[first].since > interval {
                    sum -= polls[first].requests
                    first += 1
                }
                if poll.time - polls[first].since <= interval { most = max(most, sum) }
            }
            return most
        }

        @Test func `rows are spread over a time`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let input = try sender.makeRows(300, "--plain")
            let flags = ["--template", Tools.fixture("campaign/plain.json"), "--spread", "3s"]
            let (_, results) = try sender.send(input, to: simulator.port, flags)
            results.expectComplete(rows: 300)
            // Without a limit it takes a fraction of a second; the first second passes before the rows are counted.
            #expect((results.allSessions["elapsed_seconds"] as? Double ?? 0) > 1.5)
            _ = try simulator.stop()
        }

        @Test func `limits that change in the campaign file apply to a run that goes on`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let input = try sender.makeRows(2000, "--plain")
            func write(_ lines: String) throws -> String {
                let template = Tools.fixture("campaign/plain.json")
                return try sender.scratch.write("input: \(input)\ntemplate: \(template)\n\(lines)", to: "night.yaml")
            }
            let campaign = try write("rate: 20/s\nramp: 1s\n")
            let flags = ["--to", "localhost:\(simulator.port)", "--run-dir", sender.newRunDirectory()]
            let run = try Child(
                Tools.command, ["send", campaign] + flags + sender.credentials.flags, name: "send", in: sender.scratch)
            defer { run.stop() }
            // The run says nothing until a file has changed. It would take a hundred seconds at the first rate.
            try #require(eventually(seconds: 60) { FileManager.default.fileExists(atPath: flags[3] + "/results.csv") })
            _ = try write("rate: fast\n")
            try #require(eventually(seconds: 60) { run.errors.contains("rate: expected a rate such as 2000/s") })
            _ = try write("rate: 10000/s\n")
            try #require(eventually(seconds: 60) { run.errors.contains("changed: rate 10000/s") })
            #expect(run.wait(seconds: 60) == .exited(0), "\(run.errors)")
            try RunResults(flags[3]).expectComplete(rows: 2000)
            _ = try simulator.stop()
        }

        @Test(arguments: [
            ("rate", "2000", "expected a rate such as 2000/s"), ("ramp", "10m", "needs a rate"),
        ])
        func `a limit that makes no sense is refused, and nothing is sent`(
            name: String, value: String, message: String
        ) throws {
            let sender = try Sender()
            let input = try sender.makeRows(5, "--plain")
            let flags = ["--template", Tools.fixture("campaign/plain.json"), "--to", "simulator"]
            let finished = try sender.command(["send", "--input", input, "--\(name)", value] + flags)
            #expect(finished.ending == .exited(64))
            #expect(finished.errors.contains("--\(name): \(message)"), "\(finished.errors)")
        }
    }
}
