import Foundation
import Testing

extension EndToEndRuns {
    /// Tests of SIGUSR1, and of SIGINT or SIGTERM in states in which nothing is sent.
    @Suite struct PolicySignals {
        private static let template = ["--template", Tools.fixture("campaign/plain.json"), "--lanes", "1"]

        /// Waits until the server receives nothing more for a while, and returns the number of requests.
        private func settle(_ recording: Recording) -> Int {
            var (last, quiet) = (-1, 0)
            _ = eventually(seconds: 60) {
                let size = recording.size
                quiet = size == last ? quiet + 1 : 0
                last = size
                return quiet >= 500
            }
            return recording.requests.count
        }

        @Test func `SIGUSR1 pauses: connections stay, nothing is sent, progress says so; once more and it goes on`()
            throws
        {
            let sender = try Sender()
            let (server, recording) = try Peer.python(sender, streams: 20)
            let rows = 10_000
            let input = try sender.makeRows(rows, "--plain")
            let directory = sender.newRunDirectory()
            let process = try sender.start(
                input, to: server.port, runDirectory: directory, Self.template + ["--connections", "1"])
            let begun = eventually(seconds: 60) { recording.size > 20_000 }
            try #require(begun, "\(process.errors)")
            process.send(signal: SIGUSR1)
            let said = eventually(seconds: 60) {
                process.errors.contains("SIGUSR1: paused; send it again to continue\n")
            }
            try #require(said, "\(process.errors)")
            let sent = settle(recording)
            #expect(sent > 0 && sent < rows && !process.isOver)
            let shown = eventually(seconds: 60) { process.errors.contains("paused, ") }
            #expect(shown, "\(process.errors)")
            #expect(recording.requests.count == sent, "sent while it paused")

            process.send(signal: SIGUSR1)
            #expect(process.wait(seconds: 120) == .exited(0), "\(process.errors)")
            server.stop()
            #expect(process.errors.contains("SIGUSR1: continuing\n"))
            let results = try RunResults(directory)
            results.expectComplete(rows: rows)
            #expect(results.count("accepted") == rows)
            #expect(recording.connections == 1, "the connection was kept")
        }

        @Test(arguments: [SIGINT, SIGTERM])
        func `a paused run ends in order`(signal: Int32) throws {
            let sender = try Sender()
            let (server, recording) = try Peer.python(sender, streams: 20)
            let input = try sender.makeRows(100_000, "--plain")
            let directory = sender.newRunDirectory()
            let process = try sender.start(input, to: server.port, runDirectory: directory, Self.template)
            let begun = eventually(seconds: 60) { recording.size > 20_000 }
            try #require(begun, "\(process.errors)")
            process.send(signal: SIGUSR1)
            _ = settle(recording)
            #expect(process.stop(signal) == .exited(75), "\(process.errors)")
            server.stop()
            let results = try RunResults(directory)
            results.expectSummaryAgrees()
            #expect(results.lines.count == recording.requests.count && results.count("accepted") == results.lines.count)
        }

        @Test(arguments: [(SIGINT, SIGTERM), (SIGTERM, SIGTERM)])
        func `a second signal waits for no answer, and leaves every row that was sent to resume`(
            first: Int32, second: Int32
        ) throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(
                sender, script: Script(seed: 1, rules: [], latency: "{ distribution: fixed, median_ms: 3000000 }"))
            let input = try sender.makeRows(5000, "--plain")
            let directory = sender.newRunDirectory()
            let process = try sender.start(
                input, to: simulator.port, runDirectory: directory,
                Self.template + ["--request-timeout", "3600000", "--verbose"])
            let connected = eventually(seconds: 60) { process.errors.contains("connected to ") }
            try #require(connected, "\(process.errors)")
            process.send(signal: first)
            let said = eventually(seconds: 60) { process.errors.contains("taking no more rows") }
            try #require(said, "\(process.errors)")
            #expect(!process.isOver)
            // A signal that follows within a second counts as the same one.
            let stopped = eventually(seconds: 60) {
                process.send(signal: second)
                return process.errors.contains("stopped waiting")
            }
            try #require(stopped, "\(process.errors)")
            #expect(process.wait(seconds: 60) == .exited(75), "\(process.errors)")
            let results = try RunResults(directory)
            results.expectSummaryAgrees()
            #expect(results.lines.isEmpty)
            #expect(try simulator.stop().count <= Int(results.number("may_be_sent") ?? 0))
        }

        @Test func `rows that wait for their back-off hold up no end: SIGTERM gives them up at once`() throws {
            let sender = try Sender()
            let script = Script(
                seed: 1, rules: [Script.Rule(share: 1, status: 503, reason: "ServiceUnavailable")])
            let simulator = try SimulatorProcess(sender, script: script)
            let input = try sender.makeRows(30, "--plain")
            let directory = sender.newRunDirectory()
            let process = try sender.start(
                input, to: simulator.port, runDirectory: directory, Self.template + ["--unavailable-delay", "3600000"])
            // Without a terminal, progress is written after ten seconds.
            let shown = eventually(seconds: 60) { process.errors.contains("30 waiting to be sent again") }
            #expect(shown, "\(process.errors)")
            #expect(process.stop(SIGTERM, seconds: 30) == .exited(75), "\(process.errors)")
            try RunResults(directory).expectSummaryAgrees()
            // The rows that a connection refused after it was given up are sent at once over the next ones, until the service is
            // in trouble.
            #expect(try simulator.stop().values.allSatisfy { 1...6 ~= $0.received && $0.accepted == 0 })
        }
    }
}
