import APNSBatchSimulator
import Foundation
import Testing

@testable import APNSBatch
@testable import APNSBatchModel

@Suite("Results of earlier sessions") struct EarlierResultsTests {
    private static func rows(_ count: Int) -> String {
        "token,id,payload\n"
            + (0..<count).map { "\(token($0)),u-\($0),\"{\"\"aps\"\":{\"\"alert\"\":\"\"Hi\"\"}}\"\n" }.joined()
    }

    private static func campaign(_ stage: Stage, rows count: Int) throws -> StagedCampaign {
        var campaign = try stage.campaign(rows: rows(count))
        campaign.resultColumns = ["id"]
        campaign.lanes = 1
        campaign.retryDelay = .milliseconds(5)
        return campaign
    }

    /// Begins the run, and ends it when some hundred rows have an outcome. Its rate leaves a busy machine time to do so.
    private static func interrupt(_ campaign: StagedCampaign) async throws {
        var campaign = campaign
        campaign.rateLimit = .init(rate: .init(300, per: .second))
        let run = try CampaignRun(campaign)
        async let summary = run.send()
        await eventually {
            run.progress.accepted >= 300
        } then: {
            run.stopAtOnce()
        }
        #expect(try await summary.ending == .interrupted)
    }

    /// Resumes the run, and returns the results that it gives.
    private static func resume(
        _ campaign: StagedCampaign, ofAllSessions: Bool = true
    ) async throws -> (CampaignSummary, [RowResult]) {
        let run = try CampaignRun(campaign, resuming: true)
        let results = run.makeResults(ofAllSessions: ofAllSessions)
        async let summary = run.send()
        var found: [RowResult] = []
        for await batch in results { found += batch }
        return (try await summary, found)
    }

    /// Row, token, outcome, status, reason, timestamp, id and carried column, as `results.csv` has them.
    private static func line(_ result: RowResult) -> [String] {
        [
            "\(result.row)", result.token, "\(result.outcome.name)", result.status.map(String.init) ?? "",
            result.reason ?? "", result.inactiveSince.map(String.init) ?? "", result.messageID ?? "",
        ] + result.columns
    }

    private static func lines(_ directory: String) throws -> [[String]] {
        try String(contentsOfFile: directory + "/results.csv", encoding: .utf8).split(separator: "\n").dropFirst().map {
            let fields = $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            return Array(fields[..<7] + fields[9...])
        }
    }

    @Test func `they come first, and each row has one`() async throws {
        let script = SimulatorScript(
            seed: 5,
            rules: [SimulatorRule(share: 0.2, status: 410, reason: "Unregistered", timestamp: 1_700_000_000_000)],
            answersPerSecond: 2000)
        let stage = try Stage(script: script)
        let campaign = try Self.campaign(stage, rows: 2000)
        try await Self.interrupt(campaign)
        let (summary, results) = try await Self.resume(campaign)
        #expect(summary.rows == 2000 && results.count == 2000)
        let directory = try #require(campaign.campaign.runDirectory)
        let lines = try Self.lines(directory)
        #expect(Set(results.map(Self.line)) == Set(lines))
        // A complete run gives them once more, in the order in which they were recorded.
        let (again, all) = try await Self.resume(campaign)
        #expect(again.sessions == summary.sessions && all.map(Self.line) == lines)
        #expect(try await Self.resume(campaign, ofAllSessions: false).1.isEmpty)
    }

    @Test func `rows that are sent again have the new result only`() async throws {
        let script = SimulatorScript(
            seed: 5, rules: [SimulatorRule(share: 0.3, status: 503, reason: "ServiceUnavailable", times: 1)])
        let stage = try Stage(script: script)
        var campaign = try Self.campaign(stage, rows: 500)
        campaign.attempts = 1
        let first = try await CampaignRun(campaign).send()
        #expect(first.unavailable > 0 && first.rows == 500)
        campaign.retryUnavailable = true
        let (summary, results) = try await Self.resume(campaign)
        #expect(summary.accepted == 500 && results.count == 500)
        #expect(results.allSatisfy { $0.outcome == .accepted })
    }

    @Test func `a new run has none`() async throws {
        let stage = try Stage()
        let run = try CampaignRun(try Self.campaign(stage, rows: 10))
        let results = run.makeResults(ofAllSessions: true)
        async let summary = run.send()
        var count = 0
        for await batch in results { count += batch.count }
        #expect(try await summary.rows == 10 && count == 10)
    }

    @Test func `a run whose ledger cannot be read again fails, and nothing is sent`() async throws {
        let stage = try Stage(script: SimulatorScript(answersPerSecond: 2000))
        let campaign = try Self.campaign(stage, rows: 2000)
        try await Self.interrupt(campaign)
        let before = await stage.simulator.report().requests
        let run = try CampaignRun(campaign, resuming: true)
        try FileManager.default.removeItem(atPath: run.directory + "/ledger")
        let results = run.makeResults(ofAllSessions: true)
        async let summary = run.send()
        for await _ in results { Issue.record("the ledger is gone") }
        #expect(try await summary.ending == .failed && run.failure?.code == .results)
        #expect(stage.simulator.stop().requests == before)
    }
}
