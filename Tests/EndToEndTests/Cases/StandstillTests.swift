import Foundation
import Testing

extension EndToEnd {
    /// Tests that no answer counts as late because the process was stopped for longer than the request timeout.
    @Suite struct Standstill {
        @Test(arguments: Tools.loops)
        func `a stop under load that is longer than the request timeout sends no row twice`(loop: String) throws {
            let sender = try Sender()
            var script = Script(seed: 1, rules: [])
            script.latency = "{ distribution: uniform, min_ms: 0, max_ms: 200 }"
            let server = try SimulatorProcess(sender, script: script)
            let rows = 20_000
            let input = try sender.makeRows(rows, "--plain")
            let directory = sender.newRunDirectory()
            let process = try sender.start(
                input, to: server.port, runDirectory: directory,
                [
                    "--template", Tools.fixture("campaign/plain.json"), "--loop", loop, "--request-timeout", "2000",
                    // A busy machine answers so few requests well within their time.
                    "--on-unknown", "report", "--attempts", "1", "--connections", "2", "--streams", "200", "--lanes",
                    "1",
                ])
            let results = URL(filePath: directory + "/results.csv")
            let begun = eventually(seconds: 60) { ((try? Data(contentsOf: results))?.count ?? 0) > 100_000 }
            try #require(begun, "\(process.errors)")
            for _ in 0..<2 {
                process.send(signal: SIGSTOP)
                // The length of this stop is what the test is about.
                usleep(4_000_000)
                process.send(signal: SIGCONT)
                usleep(200_000)
            }
            #expect(process.wait(seconds: 200) == .exited(0), "\(process.errors)\(process.output)")
            let counts = try server.stop()
            #expect(counts.values.allSatisfy { $0.received == 1 }, "\(counts.values.count { $0.received > 1 }) twice")
            #expect(counts.count == rows)
            let lines = try RunResults(directory)
            lines.expectComplete(rows: rows)
            #expect(lines.count("accepted") == rows)
        }
    }
}
