import Foundation
import Testing

extension EndToEnd {
    /// Tests of the file that a run writes each second.
    @Suite struct Timelines {
        private static let plain = ["--template", Tools.fixture("campaign/plain.json")]

        /// Expects that the last point of the last session has the figures of summary.json.
        private func expectAgreement(
            _ timeline: Timeline, _ results: RunResults, sourceLocation: SourceLocation = #_sourceLocation
        ) throws {
            let last = try #require(timeline.points.last, sourceLocation: sourceLocation)
            #expect(last.kind == Timeline.end && last.inFlight == 0, sourceLocation: sourceLocation)
            for (outcome, rows) in last.outcomes {
                #expect(results.number(outcome) == rows, "\(outcome)", sourceLocation: sourceLocation)
            }
            let session = results.lastSession
            #expect(session["requests"] as? Int == last.requests, sourceLocation: sourceLocation)
            let retries = (session["retries"] as? [String: Int] ?? [:]).values.reduce(0, +)
            #expect(retries == last.retries, sourceLocation: sourceLocation)
            let times = session["answer_ms"] as? [String: Double]
            #expect(times?["samples"] == Double(last.answers), sourceLocation: sourceLocation)
            #expect(session["connections_opened"] as? Int == last.connectionsOpened, sourceLocation: sourceLocation)
        }

        @Test func `a run has a point each second, and its last one agrees with the summary`() throws {
            let sender = try Sender()
            let rules = [
                Script.Rule(share: 0.1, status: 410, reason: "Unregistered", timestamp: 1_700_000_000_000),
                Script.Rule(share: 0.1, status: 429, reason: "TooManyRequests", times: 1),
            ]
            let simulator = try SimulatorProcess(
                sender,
                script: Script(seed: 2, rules: rules, latency: "{ distribution: uniform, min_ms: 50, max_ms: 90 }"))
            let input = try sender.makeRows(4_000, "--plain")
            let directory = sender.newRunDirectory()
            let finished = try sender.command(
                sender.arguments(
                    input, to: simulator.port, runDirectory: directory,
                    Self.plain + ["--connections", "1", "--streams", "80", "--lanes", "1"]))
            #expect(finished.ending == .exited(2) || finished.ending == .exited(0), "\(finished)")
            let (timeline, results) = (try Timeline(directory), try RunResults(directory))
            try expectAgreement(timeline, results)
            #expect(timeline.points.first?.kind == Timeline.begin && timeline.rest == 0)
            #expect(results.number("rejected") ?? 0 > 100 && timeline.points.last?.retries ?? 0 > 100)
            // 4,400 requests at 80 streams of 70 ms take nearly four seconds.
            let seconds = timeline.points.filter { $0.kind == Timeline.second }
            #expect(seconds.count >= 2 && seconds.count + 2 == timeline.points.count)
            for (before, after) in zip(timeline.points, timeline.points.dropFirst()) {
                #expect(after.rows >= before.rows && after.elapsedMilliseconds >= before.elapsedMilliseconds)
            }
            #expect(!FileManager.default.isExecutableFile(atPath: Timeline.path(directory)))
        }

        @Test func `a run that was killed in the middle of a record is continued behind the last whole one`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender, script: .slow)
            let rows = 3_000
            let directory = sender.newRunDirectory()
            let process = try sender.startSlowly(simulator, directory, rows: rows)
            process.stop(SIGKILL)
            let file = try #require(FileHandle(forWritingAtPath: Timeline.path(directory)))
            let before = try Timeline(directory).points.count
            try file.seekToEnd()
            try file.write(contentsOf: Data(repeating: 7, count: 100))
            try file.close()
            let resumed = try sender.command(["resume", directory])
            #expect(resumed.ending == .exited(0), "\(resumed)")
            let (timeline, results) = (try Timeline(directory), try RunResults(directory))
            try expectAgreement(timeline, results)
            #expect(timeline.rest == 0 && timeline.points.last?.rows == rows)
            let (first, second) = (timeline.points(ofSession: 1), timeline.points(ofSession: 2))
            #expect(first.count == before && first.allSatisfy { $0.kind != Timeline.end })
            #expect(second.first?.kind == Timeline.begin && second.count + before == timeline.points.count)
            // Rows count from the beginning of the run, and requests from that of the session.
            #expect(second.first?.rows ?? 0 > 0 && second.first?.requests == 0)
        }

        @Test func `a time in which the process stood still is a gap`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender, script: .slow)
            let directory = sender.newRunDirectory()
            let process = try sender.startSlowly(simulator, directory, rows: 2_000)
            process.send(signal: SIGSTOP)
            // The length of this stop is what the test is about.
            usleep(3_500_000)
            process.send(signal: SIGCONT)
            #expect(process.wait(seconds: 120) == .exited(0), "\(process.errors)")
            let points = try Timeline(directory).points
            let gaps = zip(points, points.dropFirst()).map { $1.elapsedMilliseconds - $0.elapsedMilliseconds }
            #expect(gaps.contains { $0 >= 3_500 }, "\(gaps)")
            // After the gap, points are at whole seconds again.
            let last = try #require(points.last)
            #expect(points.count <= last.elapsedMilliseconds / 1000, "\(gaps)")
        }

        @Test func `a file that is not a timeline is left as it is, with one warning`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let directory = sender.newRunDirectory()
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            try Data("mine".utf8).write(to: URL(filePath: Timeline.path(directory)))
            let finished = try sender.command(
                sender.arguments(
                    try sender.makeRows(5, "--plain"), to: simulator.port, runDirectory: directory, Self.plain))
            #expect(finished.ending == .exited(0), "\(finished)")
            #expect(
                finished.errors.components(separatedBy: "is not the timeline of this run").count == 2, "\(finished)")
            #expect(try Data(contentsOf: URL(filePath: Timeline.path(directory))) == Data("mine".utf8))
        }
    }
}
