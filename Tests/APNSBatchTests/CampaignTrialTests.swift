import APNSBatchBasics
import APNSBatchSending
import APNSBatchSimulator
import APNSBatchTestSupport
import Foundation
import Testing

@testable import APNSBatch
@testable import APNSBatchModel
@testable import APNSBatchRecords

@Suite("A campaign on trial") struct CampaignTrialTests {
    private static let rows =
        "token,payload\n" + (0..<100).map { "\(token($0)),\"{\"\"aps\"\":{\"\"alert\"\":\"\"Hi\"\"}}\"\n" }.joined()

    private func files(_ stage: Stage) throws -> Set<String> {
        Set(try FileManager.default.subpathsOfDirectory(atPath: stage.directory.path))
    }

    @Test("Directories that are missing can be made, and nothing of them is left")
    func leavesNothing() throws {
        let stage = try Stage()
        var campaign = try stage.campaign(rows: Self.rows).campaign
        campaign.runDirectory = stage.directory.path + "/a//b/../c/"
        campaign.stateDirectory = stage.directory.path + "/d/e"
        campaign.rateLimit.rate = .init(1, per: .second)
        campaign.sharedRatePath = stage.directory.path + "/rate"
        let before = try files(stage)
        let trial = CampaignTrial(campaign)
        try trial.runDirectory()
        try trial.history()
        try trial.sharedRate()
        #expect(try files(stage) == before)
    }

    @Test("A trial has the error of the run, with the path that was given", arguments: ["rows.csv/a/b", "rows.csv"])
    func errors(path: String) throws {
        let stage = try Stage()
        var staged = try stage.campaign(rows: Self.rows)
        staged.runDirectory = stage.directory.path + "/" + path
        let error = #expect(throws: CampaignError.self) { _ = try CampaignRun(staged) }
        let found = #expect(throws: CampaignError.self) { try CampaignTrial(staged.campaign).runDirectory() }
        #expect(found == error && found?.description.contains("rows.csv") == true, "\(String(describing: found))")
        staged.runDirectory = nil
        staged.stateDirectory = stage.directory.path + "/" + path
        let state = #expect(throws: CampaignError.self) { try CampaignTrial(staged.campaign).history() }
        #expect(state?.code == .configuration && state?.description.contains("rows.csv") == true)
    }

    @Test("A directory that another run has is refused, and stays as it was")
    func occupied() async throws {
        let stage = try Stage()
        let staged = try stage.campaign(rows: Self.rows)
        let run = try CampaignRun(staged)
        #expect(throws: CampaignError(.busy, "\(run.directory): another process is working on this run")) {
            try CampaignTrial(staged.campaign).runDirectory()
        }
        _ = try await run.send()
        let before = try files(stage)
        #expect(throws: RunDirectory.taken(run.directory)) { try CampaignTrial(staged.campaign).runDirectory() }
        try CampaignTrial(staged.campaign).resumption()
        #expect(try files(stage) == before)
    }

    // MARK: The disk

    private static func disk(of bytes: UInt64) -> Surroundings {
        var surroundings = Surroundings.system
        surroundings.freeBytes = { _ in bytes }
        return surroundings
    }

    /// 100 rows that may all be on their way need the room that is reserved for each.
    private static let needed: UInt64 = 100 * (448 + 832)

    @Test("A disk that is too small is said with both numbers, before anything is sent or made")
    func smallDisk() throws {
        let stage = try Stage()
        let staged = try stage.campaign(rows: Self.rows)
        let thrown = #expect(throws: CampaignError.self) {
            _ = try CampaignRun(staged, surroundings: Self.disk(of: Self.needed - 1))
        }
        let error = try #require(thrown)
        #expect(error.code == .results && (error.cause as? any PassingFailure)?.mayPass == true)
        #expect(
            error.description.contains("100 rows need 128,000 bytes on this disk, and 127,999 bytes are free"))
        #expect(!RunDirectory.exists(staged.runDirectory ?? ""))
        #expect(stage.simulator.stop().requests == 0)
        let trial = CampaignTrial(staged.campaign, Self.disk(of: Self.needed - 1))
        #expect(throws: error) { try trial.room(for: 100, of: staged.input) }
    }

    @Test("A disk that is just large enough does")
    func largeDisk() async throws {
        let stage = try Stage()
        let staged = try stage.campaign(rows: Self.rows)
        let room = try CampaignTrial(staged.campaign, Self.disk(of: Self.needed)).room(for: 100, of: staged.input)
        #expect(room == .init(needed: Self.needed, free: Self.needed))
        let run = try CampaignRun(staged, surroundings: Self.disk(of: Self.needed))
        #expect(try await run.send().accepted == 100)
    }

    @Test("Rows are counted where an estimate from the first of them says that the disk is too small")
    func countedRows() throws {
        let stage = try Stage()
        let wide = String(repeating: " ", count: 3000)
        let late = (0..<4_000).map { "\(token($0)),\"{\"\"aps\"\":{\"\"alert\"\":\"\"Hi\"\"}}\(wide)\"\n" }.joined()
        let short = (0..<3_000).map { "\(token($0)),\"{\"\"aps\"\":{\"\"alert\"\":\"\"Hi\"\"}}\"\n" }.joined()
        let staged = try stage.campaign(rows: "token,payload\n" + short + late)
        // An estimate has some hundred thousand rows.
        _ = try CampaignRun(staged, surroundings: Self.disk(of: 7_000 * (448 + 832)))
        #expect(throws: CampaignError.self) {
            _ = try CampaignRun(
                try stage.campaign(rows: "token,payload\n" + short + late), surroundings: Self.disk(of: 1_000_000))
        }
    }

    @Test("What rows need is what is written of them, and what is reserved for the last")
    func need() {
        #expect(DiskNeed(rows: 0, carried: 0, announced: 10).bytes == 0)
        #expect(DiskNeed(rows: 5, carried: 0, announced: 10).bytes == 5 * 1280)
        #expect(DiskNeed(rows: 10_000_000, carried: 0, announced: 1000).bytes == 9_999_000 * 181 + 1000 * 1280)
        #expect(DiskNeed(rows: 5, carried: 2, announced: 10).bytes > 5 * 1280)
    }

    @Test("The free room is that of the nearest directory that is there")
    func freeRoom() throws {
        let stage = try Stage()
        let here = try #require(DirectoryTrial.freeBytes(at: stage.directory.path))
        let below = try #require(DirectoryTrial.freeBytes(at: stage.directory.path + "/a/b/c"))
        #expect(here > 0 && below > 0)
        #expect(DirectoryTrial.freeBytes(at: "no-such-directory/below") != nil)
    }

    // MARK: Time

    @Test("The time of rows follows rate, ramp and spread")
    func time() {
        func seconds(_ limit: Campaign.RateLimit, _ rows: UInt64) -> Double? { limit.secondsAtLeast(for: rows) }
        #expect(seconds(.init(), 1000) == nil)
        let rate = Campaign.Rate(100, per: .second)
        #expect(abs((seconds(.init(rate: rate), 1000) ?? 0) - 10) < 0.01)
        #expect(abs((seconds(.init(spread: .seconds(7200)), 1000) ?? 0) - 7200) < 0.01)
        #expect(abs((seconds(.init(rate: rate, spread: .seconds(5)), 1000) ?? 0) - 10) < 0.01)
        let ramp = seconds(.init(rate: rate, ramp: .seconds(10)), 1000) ?? 0
        #expect(ramp > 14 && ramp < 16)
        #expect((seconds(.init(rate: rate), 0) ?? 1) < 0.01)
    }

    @Test("Rows that cannot leave before not_after are a finding")
    func lateness() throws {
        let stage = try Stage()
        var campaign = try stage.campaign(rows: Self.rows).campaign
        campaign.rateLimit.rate = .init(10, per: .second)
        campaign.notAfter = .after(.seconds(5))
        #expect(try CampaignTrial(campaign).lateness(of: 100)?.rule == "deadline-too-early")
        campaign.notAfter = .after(.seconds(60))
        #expect(try CampaignTrial(campaign).lateness(of: 100) == nil)
    }

    // MARK: The input

    @Test("An input is opened with its templates, and its rows are counted or estimated")
    func input() throws {
        let stage = try Stage()
        let staged = try stage.campaign(rows: Self.rows)
        #expect(try CampaignTrial(staged.campaign).rows(of: staged.input) == .init(count: 100, isEstimate: false))
        #expect(try CampaignTrial(staged.campaign).rows(of: .standardInput) == nil)
        var broken = staged.campaign
        broken.template = .init(json: Array(#"{"aps":{"alert":5}}"#.utf8), name: "payload.json")
        #expect(throws: CampaignError.self) { try CampaignTrial(broken).rows(of: staged.input) }
    }
}
