import Foundation
import Testing

extension EndToEndUnderFault {
    /// Tests of complaints that users have about other senders.
    @Suite struct Complaints {
        private static let shutdown = "goaway: { debug: '{\"reason\":\"Shutdown\"}' }"

        @Test func `rows lost at GOAWAY`() throws {
            let run = try FaultRun(["{ when: { after: 60, every: 60 }, \(Self.shutdown) }"])
            run.expectAllAccepted(twice: false)
            #expect(run.report.happened("goaway")[0] >= 5)
        }

        /// Rows that were affected by many GOAWAYs must not wait longer after each of them, and must not be given up.
        @Test func `rows above the last stream go elsewhere at once and at no cost`() throws {
            let run = try FaultRun(["{ when: { after: 12 }, \(Self.shutdown) }"], ["--attempts", "1"])
            run.expectAllAccepted(twice: false)
            #expect(run.report.happened("goaway")[0] >= 30)
            #expect(run.results.lines.allSatisfy { $0.attempts == 1 })
        }

        @Test func `hours of silence after GOAWAY with nobody told`() throws {
            let run = try FaultRun(
                [
                    "{ when: { after: 100, connection: 1 }, \(Self.shutdown) }",
                    "{ when: { after: 100, connection: 1 }, stall: { side: both } }",
                ], latency: "{ distribution: fixed, median_ms: 20 }", ["--request-timeout", "2000"])
            run.expectAllAccepted(twice: true)
            #expect(run.report.happened("stall") == [1])
        }

        @Test func `the GOAWAY reason hidden`() throws {
            let run = try FaultRun(["{ when: { after: 100, connection: 1 }, \(Self.shutdown) }"])
            run.expectAllAccepted(twice: false)
            #expect(run.finished.errors.contains(": Shutdown\n"), "\(run.finished)")
        }

        @Test func `GOAWAY for going past a limit that had just been lowered`() throws {
            let run = try FaultRun([
                "{ when: { after: 30, every: 60 }, settings: { max_concurrent_streams: 1 } }",
                "{ when: { after: 40, every: 60 }, settings: { max_concurrent_streams: 500 } }",
                "{ when: { after: 60, every: 60 }, settings: { max_concurrent_streams: 0, ms: 10 } }",
            ])
            run.expectAllAccepted(twice: false)
            #expect(run.report.number("connections") ?? 0 > 0)
            #expect(!run.finished.errors.contains("GOAWAY from"), "\(run.finished)")
        }

        /// With one stream and 400 ms per answer, the run would take four minutes.
        @Test func `one bad request dropping the limit to 1 and the whole run crawling`() throws {
            let run = try FaultRun(
                ["{ when: { after: 20, connection: 1 }, settings: { max_concurrent_streams: 1 } }"],
                latency: "{ distribution: fixed, median_ms: 400 }")
            run.expectAllAccepted(twice: false)
            #expect(run.report.number("connections") ?? 0 >= 2)
            #expect((run.results.allSessions["elapsed_seconds"] as? NSNumber)?.doubleValue ?? .infinity < 120)
        }

        @Test func `answers that never come, without a timeout`() throws {
            let run = try FaultRun(
                ["{ when: { after: 100, connection: 1 }, stall: { side: writing } }"], ["--request-timeout", "1500"])
            run.expectAllAccepted(twice: true)
        }

        @Test func `a half-open link noticed after minutes`() throws {
            let run = try FaultRun(
                ["{ when: { after: 100, connection: 1 }, stall: { side: both } }"], ["--request-timeout", "1500"])
            run.expectAllAccepted(twice: true)
            #expect((run.results.allSessions["elapsed_seconds"] as? NSNumber)?.doubleValue ?? .infinity < 60)
        }

        /// Sanitizers need memory of their own.
        @Test(.enabled(if: Tools.sanitizer == nil))
        func `memory that grows with the number of recipients`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let peaks = try [2_000, 30_000].map { try Self.peak(sender, to: simulator.port, rows: $0) }
            #expect(peaks[1] < peaks[0] + 8_192, "KiB: \(peaks)")
        }

        /// Returns the peak of the sender's resident memory, in KiB.
        private static func peak(_ sender: Sender, to port: UInt16, rows: Int) throws -> Int {
            let input = try sender.makeRows(rows, "--plain")
            let program =
                "import resource,subprocess,sys;code=subprocess.run(sys.argv[1:]).returncode;"
                + "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss);sys.exit(code)"
            let send = sender.arguments(input, to: port, runDirectory: sender.newRunDirectory(), FaultRun.template)
            let finished = try Child.run(
                Tools.python, ["-c", program, Tools.command] + send, name: "peak", in: sender.scratch, seconds: 300)
            try #require(finished.ending == .exited(0), "\(finished)")
            return try #require(finished.outputLines.last.flatMap { Int($0) }, "\(finished)")
        }

        @Test func `duplicates from blind retries`() throws {
            let run = try FaultRun([
                "{ when: { every: 5 }, reset: { code: REFUSED_STREAM } }",
                "{ when: { after: 150, connection_every: 2 }, goaway: {} }",
                "{ when: { every: 11 }, reset: { code: NO_ERROR, answer: full } }",
                "{ when: { after: 120 }, settings: { max_concurrent_streams: 0, ms: 100 } }",
            ])
            run.expectAllAccepted(twice: false)
        }

        @Test func `tokens deleted because of a wrong environment`() throws {
            let run = try FaultRun(
                [], rows: 5_000, rules: [.init(share: 1, status: 400, reason: "BadDeviceToken")], expecting: 69)
            #expect(run.results.lines.count < 5_000)
            #expect(run.finished.errors.contains("BadDeviceToken"), "\(run.finished)")
            #expect(run.results.lines.allSatisfy { $0.timestamp == "" })
        }

        @Test func `progress that sticks at "running"`() throws {
            let sender = try Sender()
            let script = Script(seed: 1, rules: [], faults: ["{ when: { after: 1 }, stall: { side: both } }"])
            let simulator = try SimulatorProcess(sender, script: script)
            let input = try sender.makeRows(20, "--plain")
            let directory = sender.newRunDirectory()
            let send = sender.arguments(
                input, to: simulator.port, runDirectory: directory,
                FaultRun.template + ["--request-timeout", "500", "--attempts", "1"])
            let finished = try Child.run(Tools.command, send, name: "send", in: sender.scratch, seconds: 240)
            #expect([.exited(2), .exited(69)].contains(finished.ending), "\(finished)")
            let results = try RunResults(directory)
            results.expectSummaryAgrees()
            #expect(results.count("accepted") == 0)
        }

        @Test func `a pool that stops after one failed connect`() throws {
            let run = try FaultRun(
                [
                    "{ when: { at_byte_received: 0, times: 2 }, abort: reset }",
                    "{ when: { of: all, after: 100 }, refuse_connects: 500 }",
                    "{ when: { of: all, after: 100 }, abort: close }",
                ], ["--attempts", "10"])
            run.expectAllAccepted(twice: true)
        }

        @Test func `TooManyProviderTokenUpdates from one token per connection`() throws {
            let sender = try Sender()
            let (server, recording) = try Peer.python(
                sender, (1...3).flatMap { _ in ["--goaway", "{\"reason\":\"Shutdown\"}"] })
            let input = try sender.makeRows(2_000, "--plain")
            let (_, results) = try sender.send(input, to: server.port, FaultRun.template)
            server.stop()
            #expect(results.count("accepted") == 2_000)
            #expect(recording.connections >= 2)
            #expect(Set(recording.requests.map { $0["authorization"] }).count == 1)
        }
    }
}
