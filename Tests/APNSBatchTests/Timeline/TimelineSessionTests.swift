import APNSBatchSimulator
import Testing

@testable import APNSBatch
@testable import APNSBatchModel
@testable import APNSBatchRecords

@Suite("Timeline of a session") struct TimelineSessionTests {
    private static func rows(_ count: Int) -> String {
        "token,payload\n" + (0..<count).map { #"\#(token($0)),"{""aps"":{""alert"":""Hi""}}"\#n"# }.joined()
    }

    private static func points(_ files: MemoryFiles) throws -> [TimelinePoint] {
        var reader = try TimelineReader(try #require(files.timelineStorage), name: "run")
        return try reader.read()
    }

    private static func files(timeline: MemoryStorage) -> MemoryFiles {
        let files = MemoryFiles()
        files.timelineStorage = timeline
        return files
    }

    @Test("A session has a point at its beginning, and one with its final figures at its end")
    func whole() async throws {
        let rule = SimulatorRule(share: 0.3, status: 429, reason: "TooManyRequests", times: 1)
        let stage = try Stage(script: SimulatorScript(rules: [rule]))
        var campaign = try stage.campaign(rows: Self.rows(3000) + "nothex,{}\n")
        (campaign.lanes, campaign.retryDelay, campaign.runDirectory) = (2, .milliseconds(1), stage.directory.path)
        let files = Self.files(timeline: MemoryStorage())
        let summary = try await CampaignRun(campaign, files: files).send()
        let points = try Self.points(files)
        let (first, last) = (try #require(points.first), try #require(points.last))
        #expect(
            first.kind == .begin && last.kind == .end && points.dropFirst().dropLast().allSatisfy { $0.kind == .second }
        )
        for outcome in Outcome.allCases { #expect(last[outcome] == summary[outcome]) }
        let session = summary.lastSession
        #expect(last.rows == 3001 && last.requests == session.requests && last.requests > 3000)
        #expect(last.retries == session.retries.values.reduce(0, +) && last.retries > 0)
        #expect(last.answers == session.answerTimes?.samples && last.answers == last.requests)
        #expect(UInt64(last.connectionsOpened) == session.connectionsOpened && last.inFlight == 0)
        #expect(last.session == 1 && last.rowsTotal == 3001 && last.bytesRead > 0 && last.rssBytes > 1 << 20)
        let longest = points.compactMap { $0.answerTimes?.max }.max()
        #expect(Double(try #require(longest)) / 1000 == session.answerTimes?.max)
        #expect(zip(points, points.dropFirst()).allSatisfy { $0.elapsedMilliseconds <= $1.elapsedMilliseconds })
    }

    @Test("The points of a session are whole seconds apart, also after a time in which the process did not run")
    func seconds() {
        let (second, start): (UInt64, UInt64) = (1_000_000_000, 7_300_000_000)
        func next(_ now: UInt64) -> UInt64 { TimelineSampler.nextSecond(after: now, since: start) }
        #expect(next(start) == start + second && next(start + second - 1) == start + second)
        #expect(next(start + second) == start + 2 * second && next(start + 50 * second + 5) == start + 51 * second)
    }

    @Test("A timeline that cannot be written costs one warning, and no row", arguments: [0, 192, 300] as [UInt64])
    func fullDisk(room: UInt64) async throws {
        let stage = try Stage(script: SimulatorScript(latency: .fixed(50)), streams: 10)
        var campaign = try stage.campaign(rows: Self.rows(400))
        (campaign.lanes, campaign.connections, campaign.runDirectory) = (1, 1, stage.directory.path)
        let files = Self.files(timeline: MemoryStorage())
        files.timelineStorage?.capacity = room
        let log = LogKeeper()
        let summary = try await CampaignRun(campaign, files: files, logger: log.logger).send()
        #expect(summary.isClean && summary.accepted == 400)
        let warnings = log.text.split(separator: "\n").filter { $0.contains("its timeline has gaps") }
        #expect(warnings.count == 1 && warnings[0].contains("No space left on device"), "\(log.text)")
        #expect(files.timelineStorage?.length == room / 192 * 192)
    }
}
