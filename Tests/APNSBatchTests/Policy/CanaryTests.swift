import APNSBatchSimulator
import Testing

@testable import APNSBatch
@testable import APNSBatchModel
@testable import APNSBatchSending

@Suite("Canary") struct CanaryTests {
    private static func canary(_ rows: Int, _ percent: Double) throws -> Canary {
        try Canary(Campaign.Canary(rows: rows, maxRejectedPercent: percent))
    }

    private static let verdicts: [(Canary.Count, Canary.Verdict)] = [
        (.init(), .waiting),
        (.init(outcomes: [.accepted: 94], open: 6), .waiting),
        // Even if all requests in flight failed, the limit would not be exceeded.
        (.init(outcomes: [.accepted: 95], open: 5), .passed),
        (.init(outcomes: [.accepted: 95, .rejected: 5]), .passed),
        (.init(outcomes: [.accepted: 95, .rejected: 3, .unknown: 2]), .passed),
        (.init(outcomes: [.accepted: 95, .rejected: 5], open: 1), .waiting),
        (.init(outcomes: [.accepted: 99]), .waiting),
        (
            .init(outcomes: [.accepted: 10, .rejected: 6], open: 30),
            .failed("canary: 6 rejected of the first 100 rows, more than 5 (5.0 %); the rest was not sent")
        ),
        (
            .init(outcomes: [.accepted: 80, .rejected: 1, .unavailable: 5]),
            .failed(
                "canary: 1 rejected, 5 unavailable of the first 100 rows, more than 5 (5.0 %); the rest was not sent")
        ),
        (
            .init(outcomes: [.rejected: 5, .unknown: 1]),
            .failed(
                "canary: 5 rejected and 1 unknown of the first 100 rows, more than 5 (5.0 %); the rest was not sent")
        ),
    ]

    @Test("A canary passes or fails as soon as the result is certain", arguments: verdicts)
    func verdict(count: Canary.Count, expected: Canary.Verdict) throws {
        #expect(try Self.canary(100, 5).verdict(count) == expected)
    }

    @Test("A canary sends exactly its number of rows")
    func room() throws {
        let canary = try Self.canary(100, 5)
        #expect(canary.room(.init()) == 100)
        #expect(canary.room(.init(outcomes: [.accepted: 10, .rejected: 2, .unknown: 1], open: 80)) == 7)
        #expect(canary.room(.init(outcomes: [.accepted: 10, .unavailable: 5], open: 80)) == 5)
        #expect(
            canary.room(.init(outcomes: [.accepted: 100])) == 0 && canary.room(.init(outcomes: [.accepted: 200])) == 0)
    }

    @Test("Without a permitted share of rejections, one rejection fails the canary")
    func none() throws {
        #expect(try Self.canary(10, 0).verdict(.init(outcomes: [.accepted: 9], open: 1)) == .waiting)
        #expect(try Self.canary(10, 0).verdict(.init(outcomes: [.accepted: 10])) == .passed)
        #expect(try Self.canary(10, 9.9).limit == 0 && Self.canary(10, 10).limit == 1)
    }

    @Test("An invalid canary is refused")
    func refused() {
        #expect(throws: CampaignError(.configuration, "canary: expected at least 1 row, found 0")) {
            try Self.canary(0, 5)
        }
        for percent in [-0.1, 100.1, .nan] {
            #expect(
                throws: CampaignError(
                    .configuration, "canary: expected a limit of 0 to 100 percent of rejected rows, found \(percent)")
            ) { try Self.canary(10, percent) }
        }
    }

    private static let payload = #""{""aps"":{""alert"":""Hi""}}""#

    private static func rows(_ count: Int) -> String {
        "token,payload\n" + (0..<count).map { "\(token($0)),\(payload)\n" }.joined()
    }

    @Test("The canary uses one connection, and the rest follows when it has passed", arguments: [1, 3])
    func passes(lanes: Int) async throws {
        let stage = try Stage(script: SimulatorScript(latency: .fixed(20)), streams: 10)
        var campaign = try stage.campaign(rows: Self.rows(20_000))
        campaign.lanes = lanes
        campaign.canary = .init(rows: 500)
        let run = try CampaignRun(campaign)
        let running = Task { try await run.send() }
        // At 10 streams, 500 rows take a second, in which the pool would otherwise have grown.
        let connections = await most(
            {
                let connections = run.progress.connections
                return run.progress.isCanary ? connections : 0
            },
            until: { run.progress.rows >= 500 || !run.progress.isCanary })
        #expect(connections <= 1)
        let summary = try await running.value
        #expect(summary.ending == .complete && summary.accepted == 20_000)
        #expect(!run.progress.isCanary)
        #expect(try stage.results(run).count == 20_000)
        #expect(stage.simulator.stop().tokensReceivedAgain == 0)
    }

    @Test("A failed canary stops the campaign before the rest is sent", arguments: [1, 3])
    func fails(lanes: Int) async throws {
        let script = SimulatorScript(
            seed: 3, rules: [SimulatorRule(share: 0.3, status: 410, reason: "Unregistered")])
        let stage = try Stage(script: script)
        var campaign = try stage.campaign(rows: Self.rows(20_000))
        campaign.lanes = lanes
        campaign.canary = .init(rows: 200, maxRejectedPercent: 10)
        let run = try CampaignRun(campaign)
        let summary = try await run.send()
        #expect(summary.ending == .failed && run.failure?.code == .fatalAnswer)
        #expect(summary.cause?.hasSuffix("of the first 200 rows, more than 20 (10.0 %); the rest was not sent") == true)
        #expect(summary.rows <= 200 && summary.allSessions.connectionsOpened == 1)
        #expect(stage.simulator.stop().requests == summary.rows)
    }

    @Test("A canary larger than the input covers the whole campaign", arguments: [1, 3])
    func shortInput(lanes: Int) async throws {
        let stage = try Stage()
        var campaign = try stage.campaign(rows: Self.rows(50) + "only-one-field\n")
        campaign.lanes = lanes
        campaign.canary = .init(rows: 1000)
        let summary = try await CampaignRun(campaign).send()
        #expect(summary.ending == .complete && summary.accepted == 50 && summary.invalid == 1)
    }

    @Test("A canary ends when the campaign's deadline passes", arguments: [1, 3])
    func deadline(lanes: Int) async throws {
        let stage = try Stage()
        var campaign = try stage.campaign(rows: Self.rows(30_000))
        stage.simulator.stop()
        campaign.lanes = lanes
        campaign.canary = .init(rows: 10)
        campaign.notAfter = .after(.seconds(1))
        campaign.connectPatience = .seconds(3600)
        let summary = try await CampaignRun(campaign).send()
        #expect(summary.ending == .complete && summary.expired == 30_000)
    }
}
