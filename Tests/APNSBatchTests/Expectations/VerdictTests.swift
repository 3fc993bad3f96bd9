import APNSBatchSimulator
import Foundation
import Testing

@testable import APNSBatch
@testable import APNSBatchModel
@testable import APNSBatchRecords

/// Tests of how a run is judged, and of what it leaves in the history.
@Suite struct VerdictTests {
    private static let template = Campaign.Template(json: Array(#"{"aps":{"alert":"Hi"}}"#.utf8), name: "t")

    private static func rows(_ count: Int, bad: Int = 0) -> String {
        "token\n" + (0..<count).map { token($0) + "\n" }.joined() + String(repeating: "no-token\n", count: bad)
    }

    private func makeCampaign(_ stage: Stage, rows: String, expecting texts: [String] = []) throws -> StagedCampaign {
        var campaign = try stage.campaign(rows: rows)
        campaign.template = Self.template
        campaign.headers.expiration = .after(.seconds(3600))
        campaign.expectations = try texts.map { try CampaignExpectation($0) }
        return campaign
    }

    @Test func `a run that meets its expectations is OK`() async throws {
        let stage = try Stage()
        let campaign = try makeCampaign(stage, rows: Self.rows(20, bad: 1), expecting: ["invalid <= 10%"])
        let summary = try await CampaignRun(campaign).send()
        #expect(summary.exitCode == 0 && summary.isClean)
        #expect(summary.verdict.hasPrefix("OK: 20 of 21 rows accepted, 1 invalid, in "), "\(summary.verdict)")
    }

    @Test func `a run that does not is exit code 2, and the verdict says what to do`() async throws {
        let stage = try Stage()
        let summary = try await CampaignRun(try makeCampaign(stage, rows: Self.rows(20, bad: 1))).send()
        #expect(summary.exitCode == 2 && !summary.isClean)
        #expect(
            summary.verdict
                == "LOOK: expected invalid == 0, found 1; correct the rows: invalid_rules in summary.json has "
                + "the places of the first ones; not-sent.csv has the rows that were not sent, and run --correction sends its corrected lines"
        )
        #expect(summary.expectations.filter { $0.holds == false }.map(\.text) == ["invalid == 0"])
    }

    @Test func `the remedy for the most frequent reason is in the verdict`() async throws {
        let stage = try Stage(
            script: SimulatorScript(rules: [SimulatorRule(share: 1, status: 400, reason: "BadDeviceToken")]))
        let summary = try await CampaignRun(try makeCampaign(stage, rows: Self.rows(20))).send()
        #expect(summary.exitCode == 2)
        #expect(
            summary.verdict.hasPrefix(
                "LOOK: expected accepted > 0, found 0; 20 rows are rejected: BadDeviceToken: check that the token is"),
            "\(summary.verdict)")
    }

    @Test func `a complete run is judged again in the same way, also without its summary`() async throws {
        let stage = try Stage()
        let state = stage.directory.appending(path: "state").path
        var campaign = try makeCampaign(
            stage, rows: Self.rows(20, bad: 3), expecting: ["rejected == 0", "rows within 10% of median"])
        campaign.stateDirectory = state
        var figures = RunFigures()
        figures.accepted = 30
        let history = RunHistory(state)
        try history.prepare()
        for day in 1...3 { try history.add(Self.night(day, figures)) }
        // 23 rows are not near 30, which is found before anything is sent.
        let strict = campaign
        #expect { try CampaignRun(strict) } throws: {
            "\($0)".hasSuffix("expected rows within 10% of median, found 23 (median 30 of 3 nights); nothing was sent")
        }
        #expect(!FileManager.default.fileExists(atPath: campaign.runDirectory ?? ""))
        campaign.expectations[1] = try CampaignExpectation("rows within 25% of median")
        let summary = try await CampaignRun(campaign).send()
        #expect(summary.exitCode == 2 && summary.verdict.hasPrefix("LOOK: expected invalid == 0, found 3;"))
        // A later night does not change the judgement.
        figures.accepted = 1
        try history.add(Self.night(4, figures))
        try FileManager.default.removeItem(atPath: campaign.runDirectory! + "/summary.json")
        let again = try await CampaignRun(campaign, resuming: true).send()
        #expect(again.verdict == summary.verdict && again.expectations == summary.expectations)
        #expect(again.exitCode == 2)
        #expect(try history.runs().count == 5)
    }

    /// A night in a year that is over, or, for day 4, in one that has not begun.
    private static func night(_ day: Int, _ figures: RunFigures) -> RecordedRun {
        let year = day == 4 ? 9000 : 2020
        return RecordedRun(
            campaign: "campaign", runDirectory: "/runs/\(day)", began: "\(year)-11-0\(day)T03:00:00Z",
            ended: "\(year)-11-0\(day)T03:00:00Z", ending: "complete", exitCode: 0, verdict: "", figures: figures)
    }

    @Test func `an interrupted run leaves a line, and its resumed session another one that replaces it`() async throws {
        let stage = try Stage()
        var campaign = try makeCampaign(stage, rows: Self.rows(200))
        campaign.stateDirectory = stage.directory.appending(path: "state").path
        let history = RunHistory(campaign.stateDirectory!)
        let run = try CampaignRun(campaign)
        run.stop()
        let first = try await run.send()
        #expect(first.exitCode == 75 && first.expectations.isEmpty)
        #expect(first.verdict.hasPrefix("FAILED: the run was interrupted; "), "\(first.verdict)")
        #expect(first.verdict.hasSuffix(" left: resume the run"), "\(first.verdict)")
        #expect(try history.runs().map(\.ending) == ["interrupted"])
        let second = try await CampaignRun(campaign, resuming: true).send()
        #expect(second.exitCode == 0)
        let runs = try history.runs()
        #expect(runs.map(\.ending) == ["complete"] && runs.first?.figures.accepted == 200)
    }

    @Test func `reasons that APNs does not document are not in the history, for they may be anything`() async throws {
        let secret = token(7)
        let stage = try Stage(script: SimulatorScript(rules: [SimulatorRule(share: 1, status: 400, reason: secret)]))
        var campaign = try makeCampaign(stage, rows: Self.rows(20))
        campaign.stateDirectory = stage.directory.appending(path: "state").path
        _ = try await CampaignRun(campaign).send()
        let run = try #require(try RunHistory(campaign.stateDirectory!).runs().first)
        #expect(run.figures.reasons == ["other": 20])
        let text = try String(contentsOfFile: campaign.stateDirectory! + "/runs.ndjson", encoding: .utf8)
        #expect(!text.contains(secret))
    }

    @Test func `a comparison with earlier nights needs a state directory`() throws {
        let stage = try Stage()
        let campaign = try makeCampaign(stage, rows: Self.rows(1), expecting: ["rows within 30% of median"])
        #expect { try CampaignRun(campaign) } throws: { "\($0)".contains("needs state_dir") }
        #expect { try CampaignCheck(campaign) } throws: { "\($0)".contains("needs state_dir") }
    }

    @Test func `an old input is refused, but not for a resumed run`() async throws {
        let stage = try Stage()
        var campaign = try makeCampaign(stage, rows: Self.rows(20))
        campaign.inputAgeLimit = .seconds(3600)
        guard case .file(let path) = campaign.input else { return }
        func touch(hoursAgo: Double) throws {
            try FileManager.default.setAttributes(
                [.modificationDate: Date.now.addingTimeInterval(-3600 * hoursAgo)], ofItemAtPath: path)
        }
        try touch(hoursAgo: 2)
        let old = campaign
        #expect { try CampaignRun(old) } throws: {
            "\($0)".hasPrefix("require fresh: ") && "\($0)".contains("2 h 0 min ago, and may be 1 h 0 min old")
        }
        try touch(hoursAgo: 0.5)
        let run = try CampaignRun(campaign)
        run.stop()
        #expect(try await run.send().ending == .interrupted)
        try touch(hoursAgo: 2)
        #expect(try await CampaignRun(campaign, resuming: true).send().accepted == 20)
    }
}
