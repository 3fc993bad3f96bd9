import APNSBatchSending
import APNSBatchSimulator
import Foundation
import Testing

@testable import APNSBatch
@testable import APNSBatchModel

/// A run is sent once by an object, and its files belong to one object at a time.
@Suite("The life of a run") struct RunLifeTests {
    private static let rows = 3000

    private static func campaign(_ stage: Stage) throws -> StagedCampaign {
        let rows = "token,payload\n" + (0..<Self.rows).map { "\(token($0)),\(payload)\n" }.joined()
        var campaign = try stage.campaign(rows: rows)
        campaign.lanes = 1
        return campaign
    }

    private static let payload = #""{""aps"":{""alert"":""Hi""}}""#

    /// Sends some hundred rows and stops. Its rate leaves a busy machine time to do so.
    private static func interrupt(_ run: CampaignRun, after accepted: UInt64) async throws {
        try run.setRateLimit(.init(rate: .init(1000, per: .second)))
        async let summary = run.send()
        await eventually {
            run.progress.accepted >= accepted
        } then: {
            run.stop()
        }
        #expect(try await summary.ending == .interrupted)
        try run.setRateLimit(.init())
    }

    /// The content of all files of a run.
    private static func files(_ directory: String) throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: directory)
        return try Dictionary(
            uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: URL(filePath: "\(directory)/\($0)"))) })
    }

    /// Expects that `send` and `run` are refused and change nothing.
    private static func expectRefusal(_ run: CampaignRun) async throws {
        let before = try files(run.directory)
        await #expect(throws: CampaignError.self) { try await run.send() }
        await #expect(throws: CampaignError.self) { try await run.run() }
        #expect(try files(run.directory) == before)
    }

    /// Completes the run with a new object. Each token was sent once.
    private static func expectCompletion(of campaign: StagedCampaign, _ stage: Stage) async throws {
        let summary = try await CampaignRun(campaign, resuming: true).send()
        #expect(summary.ending == .complete && summary.accepted == UInt64(rows))
        let report = await stage.simulator.report()
        #expect(report.requests == UInt64(rows) && report.tokensReceivedAgain == 0)
    }

    @Test(.timeLimit(.minutes(2))) func `a new run that was interrupted is not sent again by its object`() async throws
    {
        let stage = try Stage()
        let campaign = try Self.campaign(stage)
        let run = try CampaignRun(campaign)
        try await Self.interrupt(run, after: 200)
        try await Self.expectRefusal(run)
        try await Self.expectCompletion(of: campaign, stage)
    }

    @Test(.timeLimit(.minutes(2))) func `a resumed run that was interrupted is not sent again by its object`()
        async throws
    {
        let stage = try Stage()
        let campaign = try Self.campaign(stage)
        try await Self.interrupt(try CampaignRun(campaign), after: 200)
        let run = try CampaignRun(campaign, resuming: true)
        try await Self.interrupt(run, after: 500)
        try await Self.expectRefusal(run)
        try await Self.expectCompletion(of: campaign, stage)
    }

    @Test(.timeLimit(.minutes(2))) func `results that a program keeps do not keep the run`() async throws {
        let stage = try Stage()
        let campaign = try Self.campaign(stage)
        try await Self.interrupt(try CampaignRun(campaign), after: 200)
        let results = try CampaignRun(campaign, resuming: true).makeResults(ofAllSessions: true)
        // The lock of the ledger is free.
        try await Self.expectCompletion(of: campaign, stage)
        withExtendedLifetime(results) {}
    }

    @Test(.timeLimit(.minutes(2))) func `a complete run is not sent again by its object`() async throws {
        let stage = try Stage()
        let campaign = try Self.campaign(stage)
        let run = try CampaignRun(campaign)
        #expect(try await run.send().ending == .complete)
        try await Self.expectRefusal(run)
        let again = try CampaignRun(campaign, resuming: true)
        #expect(again.wasComplete)
        #expect(try await again.send().accepted == UInt64(Self.rows))
        try await Self.expectRefusal(again)
        try await Self.expectCompletion(of: campaign, stage)
    }

    @Test(.timeLimit(.minutes(2))) func `of two calls at the same time one sends`() async throws {
        let stage = try Stage()
        let campaign = try Self.campaign(stage)
        let run = try CampaignRun(campaign)
        let ends = await withTaskGroup(of: Result<CampaignSummary.Ending?, any Error>.self) { group in
            for number in 0..<8 {
                group.addTask {
                    do {
                        if number % 2 == 0 { return .success(try await run.send().ending) }
                        try await run.run()
                        return .success(nil)
                    } catch {
                        return .failure(error)
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(ends.count { (try? $0.get()) != nil } == 1)
        try await Self.expectCompletion(of: campaign, stage)
    }

    @Test(.timeLimit(.minutes(2))) func `an object that has ended does nothing to the run of another one`() async throws
    {
        let stage = try Stage()
        let campaign = try Self.campaign(stage)
        let stale = try CampaignRun(campaign)
        try await Self.interrupt(stale, after: 200)
        let run = try CampaignRun(campaign, resuming: true)
        try run.setRateLimit(.init(rate: .init(1000, per: .second)))
        async let summary = run.send()
        await eventually {
            run.progress.accepted >= 400
        } then: {
            stale.stop()
            stale.pause()
        }
        await #expect(throws: CampaignError.self) { try await stale.send() }
        try run.setRateLimit(.init())
        #expect(try await summary.ending == .complete && run.failure == nil)
        try await Self.expectCompletion(of: campaign, stage)
    }

    @Test(arguments: ["ledger", "results.csv"], [true, false])
    func `a file that another program wrote while the run was opened is left as it is`(name: String, isNew: Bool)
        async throws
    {
        let stage = try Stage()
        let campaign = try Self.campaign(stage)
        if !isNew { try await Self.interrupt(try CampaignRun(campaign), after: 200) }
        let before = await stage.simulator.report().requests
        let run = try CampaignRun(campaign, resuming: !isNew)
        try Self.append("one\ntwo\n", to: "\(run.directory)/\(name)")
        let files = try Self.files(run.directory)
        let summary = try await run.send()
        #expect(summary.ending == .failed && run.failure != nil)
        #expect(try Self.files(run.directory)[name] == files[name])
        #expect(await stage.simulator.report().requests == before)
    }

    @Test func `the rows of a run whose ledger is lost are left as they are`() async throws {
        let stage = try Stage()
        let campaign = try Self.campaign(stage).campaign
        let run = try CampaignRun(campaign, columns: ["token", "payload"], rows: { _ in })
        try Self.append("token,payload\n1,2\n", to: "\(run.directory)/rows.spool")
        let files = try Self.files(run.directory)
        #expect(try await run.send().ending == .failed)
        #expect(run.failure?.code == .results)
        #expect(try Self.files(run.directory)["rows.spool"] == files["rows.spool"])
    }

    private static func append(_ text: String, to path: String) throws {
        let file = fopen(path, "a")
        try #require(file != nil && fputs(text, file) >= 0)
        fclose(file)
    }

    @Test func `a run whose directory was replaced writes nothing into the new one`() async throws {
        let stage = try Stage()
        let campaign = try Self.campaign(stage)
        let stale = try CampaignRun(campaign)
        try FileManager.default.removeItem(atPath: stale.directory)
        let run = try CampaignRun(campaign)
        #expect(try await run.send().accepted == UInt64(Self.rows))
        let files = try Self.files(run.directory)
        #expect(try await stale.send().ending == .failed)
        #expect(try Self.files(run.directory) == files)
        try await Self.expectCompletion(of: campaign, stage)
    }

    @Test(.timeLimit(.minutes(5))) func `calls of send and stop in any order leave a run that can be resumed`()
        async throws
    {
        let stage = try Stage()
        let campaign = try Self.campaign(stage)
        for round in 0..<12 {
            let run = try CampaignRun(campaign, resuming: round > 0)
            try run.setRateLimit(.init(rate: .init(5000, per: .second)))
            await withTaskGroup { group in
                for _ in 0..<4 { group.addTask { _ = try? await run.send() } }
                group.addTask { run.stop() }
                if round % 2 == 0 { group.addTask { run.stopAtOnce() } }
                if round % 3 == 0 { group.cancelAll() }
            }
            await #expect(throws: CampaignError.self) { try await run.send() }
        }
        let summary = try await CampaignRun(campaign, resuming: true).send()
        #expect(summary.ending == .complete && summary.rows == UInt64(Self.rows))
    }

    @Test(.timeLimit(.minutes(2)), arguments: ["stop", "stop at once", "cancel"])
    func `a consumer that stands still does not hold up the end`(how: String) async throws {
        let stage = try Stage()
        let campaign = try Self.campaign(stage)
        var surroundings = Surroundings.system
        surroundings.outcomesPerBatch = 64
        let run = try CampaignRun(campaign, surroundings: surroundings)
        let held = run.makeResults(buffering: 1)
        let sending = Task { try await run.send() }
        await eventually { run.progress.heldBackBy == .writer }
        switch how {
        case "stop": run.stop()
        case "stop at once": run.stopAtOnce()
        default: sending.cancel()
        }
        let summary = try await sending.value
        #expect(summary.ending == .interrupted && summary.accepted > 0)
        #expect(try stage.results(run).count == summary.accepted)
        // What waited is still there, and the record has all of it.
        var count = 0
        for await batch in held { count += batch.count }
        #expect(UInt64(count) <= summary.accepted)
        let resumed = try CampaignRun(campaign, resuming: true)
        let results = resumed.makeResults(ofAllSessions: true)
        async let end = resumed.send()
        var found: Set<UInt64> = []
        for await batch in results { found.formUnion(batch.map(\.row)) }
        #expect(try await end.ending == .complete && found.count == Self.rows)
    }
}
