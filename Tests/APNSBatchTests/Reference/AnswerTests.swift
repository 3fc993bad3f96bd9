import APNSBatchNotification
import APNSBatchSimulator
import Testing

@testable import APNSBatch
@testable import APNSBatchModel

/// Tests that send every reason of the table from a server to a campaign.
@Suite("Answers of the reference table") struct AnswerTests {
    private static let rows = "token,payload\n\(token(1)),\"{\"\"aps\"\":{\"\"alert\"\":\"\"Hi\"\"}}\"\n"

    private static func rules(_ isOurs: (AnswerAction) -> Bool) -> [String] {
        AnswerRule.all.filter { isOurs($0.action) }.map(\.text)
    }

    private func rule(_ reason: String) throws -> AnswerRule {
        try #require(AnswerRule.all.first { $0.text == reason })
    }

    /// - Parameter times: the number of requests for the token that get this answer; 0 for all.
    private func run(
        _ rule: AnswerRule, times: Int?, _ change: (inout StagedCampaign) -> Void = { _ in }
    ) async throws -> (summary: CampaignSummary, run: CampaignRun, results: [UInt64: [String]]) {
        let answer = SimulatorRule(share: 1, status: Int(rule.status), reason: rule.text, times: times)
        let stage = try Stage(script: SimulatorScript(rules: [answer]))
        var campaign = try stage.campaign(rows: Self.rows)
        campaign.retryDelay = .milliseconds(1)
        change(&campaign)
        let run = try CampaignRun(campaign)
        let summary = try await run.send()
        return (summary, run, try stage.results(run))
    }

    @Test(
        "A final answer is the row's outcome, and the campaign goes on",
        arguments: rules { if case .rejected = $0 { true } else { false } })
    func final(reason: String) async throws {
        let rule = try rule(reason)
        let (summary, _, results) = try await run(rule, times: nil)
        #expect(summary.ending == .complete)
        #expect(results[1]?[2...4] == ["rejected", String(rule.status), reason])
    }

    @Test("A fatal answer stops the campaign and is named", arguments: rules { $0 == .stop })
    func fatal(reason: String) async throws {
        let rule = try rule(reason)
        let (summary, run, results) = try await run(rule, times: nil)
        #expect(summary.ending == .failed)
        #expect(run.failure?.code == .fatalAnswer)
        #expect(summary.cause?.contains("\(rule.status) \(reason)") == true)
        #expect(results.isEmpty, "the row is not to blame, and goes again when the run is resumed")
    }

    @Test(
        "A row with a retryable answer is sent again and then accepted",
        arguments: rules { if case .retry = $0 { true } else { false } })
    func again(reason: String) async throws {
        let (summary, _, results) = try await run(try rule(reason), times: 1)
        #expect(summary.ending == .complete)
        #expect(results[1]?[2] == "accepted" && results[1]?[7] == "2")
    }

    @Test("An unknown reason is kept unchanged, and its status decides", arguments: [(418, false), (599, true)])
    func unknown(status: Int, isRetried: Bool) async throws {
        let answer = SimulatorRule(share: 1, status: status, reason: "NewReason of 2027")
        let stage = try Stage(script: SimulatorScript(rules: [answer]))
        var campaign = try stage.campaign(rows: Self.rows)
        campaign.retryDelay = .milliseconds(1)
        campaign.attempts = 2
        let run = try CampaignRun(campaign)
        let summary = try await run.send()
        #expect(
            summary.ending == .complete
                && (isRetried ? summary.unavailableReasons : summary.reasons) == ["NewReason of 2027": 1])
        #expect(summary.attempts == (isRetried ? 2 : 1))
    }

    @Test("A campaign stops early when nearly all tokens are of the other environment")
    func wrongEnvironment() async throws {
        let answer = SimulatorRule(share: 0.95, status: 400, reason: "BadDeviceToken")
        let stage = try Stage(script: SimulatorScript(rules: [answer]))
        let payload = #""{""aps"":{""alert"":""Hi""}}""#
        let rows = (0..<20_000).map { "\(token($0)),\(payload)\n" }.joined()
        let run = try CampaignRun(try stage.campaign(rows: "token,payload\n" + rows))
        let summary = try await run.send()
        #expect(summary.ending == .failed && run.failure?.code == .fatalAnswer)
        #expect(summary.cause?.contains("are BadDeviceToken: do the tokens belong to the other environment") == true)
        #expect(summary.rows < 20_000 && summary.rows >= 500)
        #expect(try stage.results(run).count == Int(summary.rows))
    }
}
