import Testing

extension EndToEnd {
    /// Tests with a server that accepts a fixed number of requests per second.
    @Suite struct RateLimits {
        private static let limits: [(yaml: String, rows: Int, lanes: String)] = [
            ("{ per_second: 500, status: 429, reason: TooManyRequests }", 6000, "1"),
            ("{ per_second: 500, burst: 50, status: 503, reason: ServiceUnavailable }", 6000, "2"),
            ("{ per_second: 1000, status: 429, retry_after: 2 }", 12_000, "2"),
        ]

        @Test(arguments: limits)
        func `the pace settles at what a server takes: few requests more than rows, and no row is given up`(
            yaml: String, rows: Int, lanes: String
        ) throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender, script: Script(seed: 1, rules: [], rateLimit: yaml))
            let input = try sender.makeRows(rows, "--plain")
            let (_, results) = try sender.send(
                input, to: simulator.port, ["--template", Tools.fixture("campaign/plain.json"), "--lanes", lanes])
            results.expectComplete(rows: rows)
            #expect(results.count("accepted") == rows)
            let attempts = results.lines.reduce(0) { $0 + $1.attempts }
            // Without a pace, there are nearly four requests per row. On a busy machine, the clocks of sender and
            // server differ. Narrower limits are tested in virtual time.
            #expect(Double(attempts) <= 2 * Double(rows), "\(attempts) requests")
            _ = try simulator.stop()
        }
    }
}
