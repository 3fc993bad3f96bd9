import APNSBatchNotification
import APNSBatchSimulator
import Foundation
import Testing

@testable import APNSBatch
@testable import APNSBatchModel

@Suite("Campaign with several providers") struct ProvidersTests {
    private static func lines(_ run: CampaignRun) throws -> [[String]] {
        try String(contentsOfFile: run.directory + "/results.csv", encoding: .utf8).split(separator: "\n").dropFirst()
            .map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
    }

    @Test(
        "Every row of two teams with three topics is accepted once", arguments: [1, 2], [Campaign.Loop.ioUring, .epoll])
    func twoTeams(lanes: Int, loop: Campaign.Loop) async throws {
        let stage = try TeamsStage()
        var campaign = try stage.campaign(rows: TeamsStage.rows(6000))
        campaign.lanes = lanes
        campaign.loop = loop
        let run = try CampaignRun(campaign)
        let summary = try await run.send()
        #expect(summary.ending == .complete && summary.accepted == 6000 && summary.attempts == 6000)
        let report = stage.simulator.stop()
        #expect(report.requests == 6000 && report.tokens == 6000 && report.tokensReceivedAgain == 0)
        #expect(report.connections >= 2, "one for each team at least")
    }

    @Test("A provider without rows opens no connection")
    func noRows() async throws {
        let stage = try TeamsStage()
        var campaign = try stage.campaign(rows: TeamsStage.rows(10) { _ in "com.two.app" })
        campaign.lanes = 1
        let run = try CampaignRun(campaign)
        let summary = try await run.send()
        #expect(summary.accepted == 10 && summary.allSessions.connectionsOpened == 1)
    }

    @Test("Long runs of rows of one team do not keep another from sending")
    func longRuns() async throws {
        let stage = try TeamsStage(script: SimulatorScript(latency: .fixed(2)), streams: 20)
        var campaign = try stage.campaign(
            rows: TeamsStage.rows(6000) { $0 / 2500 % 2 == 0 ? "com.one.app" : "com.two.app" })
        campaign.connections = 1
        let summary = try await CampaignRun(campaign).send()
        #expect(summary.ending == .complete && summary.accepted == 6000)
        #expect(stage.simulator.stop().tokensReceivedAgain == 0)
    }

    @Test("A row whose topic has no provider is invalid, with its place, and its neighbours are sent")
    func noProvider() async throws {
        let stage = try TeamsStage()
        let payload = #""{""aps"":{""alert"":""Hi""}}""#
        let campaign = try stage.campaign(
            rows: """
                token,name,topic,push_type,payload
                \(token(1)),x,com.one.app,,\(payload)
                \(token(2)),x,com.x.y,,\(payload)
                \(token(3)),x,com.two.app,voip,\(payload)
                \(token(4)),x,com.x.y,voip,\(payload)
                \(token(5)),x,com.two.app,,\(payload)

                """)
        let run = try CampaignRun(campaign)
        let summary = try await run.send()
        #expect(summary.accepted == 3 && summary.invalid == 2)
        let causes = try String(contentsOfFile: run.directory + "/results.csv", encoding: .utf8)
        guard case .file(let name) = campaign.input else { return }
        for (line, topic) in [(3, "com.x.y"), (5, "com.x.y.voip")] {
            #expect(causes.contains("\(name):\(line):68: topic: no provider covers \"\"\(topic)\"\""), "\(causes)")
        }
    }

    @Test("Invalid providers are refused before anything is sent")
    func configuration() throws {
        let stage = try TeamsStage()
        func fault(_ change: (inout StagedCampaign) throws -> Void) throws -> String {
            var campaign = try stage.campaign(rows: TeamsStage.rows(1))
            try change(&campaign)
            do {
                _ = try CampaignRun(campaign)
                return ""
            } catch {
                return error.description
            }
        }
        #expect(
            try fault { $0.headers.topic = "com.x.y" } == #"topic: no provider covers "com.x.y""#)
        #expect(
            try fault {
                $0.headers.topic = "com.x.y"
                $0.headers.pushType = "voip"
            } == #"topic: no provider covers "com.x.y.voip""#)
        #expect(
            try fault { $0.providers[1].topics = ["com.one.game"] }
                == #"providers 1 and 2 both name the topic "com.one.game""#)
        #expect(
            try fault { $0.providers[1].credentials = .providerToken(keyPEM: [1], keyID: "A", teamID: "B") }
                .hasPrefix("provider 2: signing key: "))
        #expect(
            try fault { $0.tokenRotation = .init(mintAfter: .seconds(10), retireAfter: .seconds(10)) }
                == "token mint after: expected less than token retire after, 10 seconds, found 10")
        #expect(try fault { $0.providers = [] } == "providers: expected 1 to 100, found 0")
    }

    @Test("A fatal answer to one team stops the campaign and names the team")
    func fatal() async throws {
        let stage = try TeamsStage(script: SimulatorScript(latency: .fixed(5)), streams: 10, unknown: [2])
        let run = try CampaignRun(try stage.campaign(rows: TeamsStage.rows(20_000)))
        let summary = try await run.send()
        #expect(run.failure?.code == .fatalAnswer)
        #expect(
            summary.cause?.hasSuffix(
                "answered 403 InvalidProviderToken for team TEAMTWO002 with key KEY0000002: check that key id and team id "
                    + "belong to the key file, that the key is not revoked in the account, and that this machine's clock is right"
            )
                == true,
            "\(summary.cause ?? "")")
        #expect(summary.rows < 20_000)
    }

    @Test("Provider tokens are renewed on new connections, and no row is lost")
    func rotation() async throws {
        // The rows take about four seconds, and a token is used for three. Its longer lifetime is for slow machines.
        let stage = try TeamsStage(script: SimulatorScript(latency: .fixed(100)), streams: 20, lifetime: 60)
        var campaign = try stage.campaign(rows: TeamsStage.rows(3000))
        campaign.connections = 2
        campaign.lanes = 1
        campaign.tokenRotation = .init(mintAfter: .seconds(1), retireAfter: .seconds(3))
        let run = try CampaignRun(campaign)
        let summary = try await run.send()
        #expect(summary.ending == .complete && summary.accepted == 3000 && summary.attempts == 3000)
        #expect(summary.allSessions.connectionsOpened >= 6, "two teams, each with successors")
        let report = stage.simulator.stop()
        // A second token on a connection within 20 minutes or a second team would have been refused.
        #expect(report.answers == [.init(status: 200, reason: "", count: 3000)])
    }

    /// The result of a change of credentials: the providers that changed, and the number of connections that were open
    /// then.
    private struct Change: Sendable {
        var changed: [Int]
        var open: Int
    }

    /// Runs the campaign, and changes its credentials when this many rows have been accepted. The changes are made on a
    /// separate thread, since a task may have to wait until the run is over.
    private static func run(
        _ run: CampaignRun, changing steps: [(accepted: Int, providers: [Campaign.Provider])]
    ) async throws -> (CampaignSummary, [Change]) {
        let (stream, changes) = AsyncThrowingStream.makeStream(of: Change.self)
        Thread.detachNewThread {
            do {
                for (accepted, providers) in steps {
                    while run.progress.accepted < accepted { sched_yield() }
                    let open = Int(run.progress.connections)
                    changes.yield(Change(changed: try run.replaceCredentials(providers), open: open))
                }
                changes.finish()
            } catch {
                changes.finish(throwing: error)
            }
        }
        let summary = try await run.send()
        return (summary, try await stream.reduce(into: []) { $0.append($1) })
    }

    @Test("New connections use new credentials during a run, and no row is lost or repeated")
    func reload() async throws {
        let stage = try TeamsStage(script: SimulatorScript(latency: .fixed(20)), streams: 20)
        var campaign = try stage.campaign(rows: TeamsStage.rows(6000))
        campaign.connections = 2
        campaign.lanes = 1
        let run = try CampaignRun(campaign)
        let providers = [try stage.providers(1, 2), try stage.providers(1, 3)]
        let (summary, changes) = try await Self.run(
            run,
            changing: [
                (1000, providers[0]),
                (1000, providers[0]),
                (3000, providers[1]),
            ])
        #expect(
            changes.map(\.changed) == [[0], [], [1]], "first only team one has another key, then nobody, then team two")
        #expect(summary.ending == .complete && summary.accepted == 6000 && summary.attempts == 6000)
        let report = stage.simulator.stop()
        #expect(report.answers == [.init(status: 200, reason: "", count: 6000)])
        #expect(report.connections >= changes[0].open + 2, "two teams, each with successors")
    }

    @Test("Old credentials stay when APNs refuses new ones, and no row is lost")
    func refusedReload() async throws {
        let stage = try TeamsStage(script: SimulatorScript(latency: .fixed(20)), streams: 20, unknown: [1])
        var campaign = try stage.campaign(rows: TeamsStage.rows(6000))
        campaign.connections = 2
        campaign.lanes = 1
        let run = try CampaignRun(campaign)
        let providers = [try stage.providers(1, 2), try stage.providers(0, 2), try stage.providers(1, 3)]
        let (summary, changes) = try await Self.run(
            run,
            changing: [
                (1000, providers[0]),
                (3000, providers[1]),
                (3000, providers[2]),
            ])
        #expect(changes.map(\.changed) == [[0], [], [0, 1]], "in the middle the first ones are in force again")
        #expect(run.failure == nil)
        #expect(summary.ending == .complete && summary.accepted == 6000 && summary.attempts == 6000)
        let answers = stage.simulator.stop().answers
        #expect(answers.contains { $0.reason == "InvalidProviderToken" && $0.count >= 2 }, "\(answers)")
        #expect(answers.count == 2)
    }

    @Test("Wrong credentials or ones for other topics change nothing")
    func refusesReload() async throws {
        let stage = try TeamsStage(script: SimulatorScript(latency: .fixed(20)), streams: 20)
        let run = try CampaignRun(try stage.campaign(rows: TeamsStage.rows(2000)))
        let running = Task { try await run.send() }
        await eventually { run.progress.accepted >= 100 }
        var broken = try stage.providers(1, 2)
        broken[1].credentials = .providerToken(keyPEM: Array("x".utf8), keyID: "KEY0000002", teamID: "TEAMTWO002")
        #expect(throws: CampaignError.self) { try run.replaceCredentials(broken) }
        var other = try stage.providers(1, 2)
        other[1].topics = ["com.two.other"]
        #expect(
            throws: CampaignError(
                .configuration, "providers and their topics cannot change while a campaign runs")
        ) { try run.replaceCredentials(other) }
        #expect(throws: CampaignError.self) { try run.replaceCredentials([other[0]]) }
        let opened = run.progress.connections
        let summary = try await running.value
        #expect(summary.accepted == 2000 && summary.attempts == 2000)
        #expect(summary.allSessions.connectionsOpened >= opened)
        #expect(try run.replaceCredentials(try stage.providers(0, 2)) == [], "still the first ones")
    }
}
