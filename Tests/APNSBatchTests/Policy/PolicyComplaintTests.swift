import APNSBatchNotification
import APNSBatchSimulator
import Logging
import Testing

@testable import APNSBatch
@testable import APNSBatchModel
@testable import APNSBatchSending

/// Tests of known complaints about the policy of other senders.
@Suite("Known complaints about policy") struct PolicyComplaintTests {
    private static let payload = #""{""aps"":{""alert"":""Hi""}}""#

    private static func rows(_ count: Int) -> String {
        "token,payload\n" + (0..<count).map { "\(token($0)),\(payload)\n" }.joined()
    }

    @Test("A campaign in the wrong environment stops early and calls no token dead")
    func wrongEnvironment() async throws {
        #expect(
            Answer(status: 400, reason: .known(.badDeviceToken)).action == .rejected(.quarantine))
        let script = SimulatorScript(rules: [SimulatorRule(share: 1, status: 400, reason: "BadDeviceToken")])
        let stage = try Stage(script: script)
        var campaign = try stage.campaign(rows: Self.rows(50_000))
        campaign.lanes = 3
        let run = try CampaignRun(campaign)
        let summary = try await run.send()
        #expect(summary.ending == .failed && run.failure?.code == .fatalAnswer)
        #expect(
            summary.cause?.contains("do the tokens belong to the other environment, production or sandbox?") == true)
        // Only the requests in flight of three lanes were sent.
        #expect(summary.rows < 50_000 && summary.rows == summary.rejected)
    }

    @Test("A row with a final answer is never sent again")
    func duplicates() async throws {
        let reasons = ["Unregistered", "PayloadTooLarge", "DeviceTokenNotForTopic", "NeverHeardOf"]
        let rules = zip(reasons, [410, 413, 400, 400]).map { reason, status in
            SimulatorRule(share: 0.2, status: status, reason: reason)
        }
        let stage = try Stage(script: SimulatorScript(rules: rules))
        let summary = try await CampaignRun(try stage.campaign(rows: Self.rows(2000))).send()
        #expect(summary.ending == .complete && summary.attempts == 2000 && summary.reasons.count == 4)
        #expect(stage.simulator.stop().tokensReceivedAgain == 0)
    }

    @Test("The rows that wait stay within the limit of a lane")
    func memory() async throws {
        let script = SimulatorScript(
            rules: [SimulatorRule(share: 1, status: 503, reason: "ServiceUnavailable", times: 1)])
        let stage = try Stage(script: script, streams: 50)
        var campaign = try stage.campaign(rows: Self.rows(3000))
        (campaign.lanes, campaign.connections) = (1, 1)
        (campaign.retryRows, campaign.unavailableDelay) = (200, .milliseconds(400))
        let run = try CampaignRun(campaign)
        let running = Task { try await run.send() }
        let most = await most({ run.progress.retrying }, until: { run.progress.rows >= 3000 })
        #expect(try await running.value.accepted == 3000)
        #expect(most <= 250, "200 and what was under way")
    }

    @Test("All connections start with the same provider token")
    func oneToken() throws {
        let occasion = try Occasion.make(hosts: ["localhost"])
        let source = try ProviderTokenSource(
            keyPEM: occasion.signingKeyPEM, keyID: Occasion.keyID, teamID: Occasion.teamID,
            rule: .init(mintAfter: 1800, retireAfter: 3120),
            log: RunLog(logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, endpoint: "localhost:1"))
        // Two signatures differ, even if they were made in the same second.
        var minted: Set<[UInt8]> = []
        for _ in 0..<100 {
            guard case .token(_, let authorization, _, _) = try source.lease() else {
                Issue.record("a token for each connection")
                return
            }
            minted.insert(authorization.unwipedCopy)
        }
        #expect(minted.count == 1)
    }
}
