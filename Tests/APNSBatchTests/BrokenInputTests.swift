import Foundation
import Testing

@testable import APNSBatch
@testable import APNSBatchModel
@testable import APNSBatchSending

@Suite("Inputs that are broken as a whole") struct BrokenInputTests {
    /// Rows, of which some are invalid, by their number from 1.
    private func rows(_ count: Int, bad: (Int) -> Bool) -> String {
        "token,name\n" + (1...count).map { bad($0) ? "xy,Ann\n" : "\(token($0)),Ann\n" }.joined()
    }

    private func campaign(_ stage: Stage, _ rows: String) throws -> StagedCampaign {
        var campaign = try stage.campaign(rows: rows)
        campaign.template = .init(json: Array(#"{"aps":{"alert":"Hi {{name}}"}}"#.utf8), name: "t.json")
        campaign.headers.expiration = .after(.seconds(60))
        return campaign
    }

    private func share(_ percent: Double) -> [String: Campaign.CircuitBreaker.Share] {
        [Campaign.CircuitBreaker.invalidRows: .percent(percent)]
    }

    /// The error of a run that does not start, without the directory of its input.
    private func refusal(_ campaign: StagedCampaign, _ stage: Stage) throws -> String {
        let error = #expect(throws: CampaignError.self) { try CampaignRun(campaign) }
        #expect(error?.code == .configuration)
        #expect(!FileManager.default.fileExists(atPath: try #require(campaign.campaign.runDirectory)))
        #expect(stage.simulator.stop().requests == 0)
        return (error?.description ?? "").replacing(stage.directory.path + "/", with: "")
    }

    @Test func `rows that a lane gives back when a run ends are no fewer rows`() {
        let watch = InvalidRowsWatch(CircuitBreaker.Limits(rules: [.brokenInput], window: 100, minimum: 10), lanes: 1)
        #expect(watch.note(lane: 0, rows: 90, invalid: 1) == nil)
        for rows in [80, 0, 91] as [UInt64] { #expect(watch.note(lane: 0, rows: rows, invalid: 1) == nil) }
        #expect(watch.note(lane: 0, rows: 200, invalid: 110)?.count == 109)
    }

    @Test func `nothing is sent when more than half of the first thousand rows are invalid`() throws {
        let stage = try Stage()
        let text = try refusal(campaign(stage, rows(3000) { $0 <= 501 }), stage)
        #expect(
            text == """
                rows.csv: 501 of the first 1,000 rows are invalid, more than 50 %: device-token 501 (rows.csv:2:1: token: \
                expected hex digits, found "x" at byte 1); nothing was sent: correct the input, or send its other rows with \
                stop_at: { invalid: never }
                """)
    }

    @Test func `half of them are sent`() async throws {
        for (count, bad) in [(2, 1), (1200, 500)] {
            let stage = try Stage()
            let summary = try await CampaignRun(campaign(stage, rows(count) { $0 <= bad })).send()
            #expect(summary.ending == .complete && summary.accepted == UInt64(count - bad), "\(summary)")
        }
    }

    @Test func `few rows are judged, too, and the most frequent rules are named with the first place of each`() throws {
        let stage = try Stage()
        let bad = ["xy,Ann", "xy,Bo", ",", "token,name", "\"x", "zz,Cy"]
        let text = try refusal(campaign(stage, "token,name\n\(token(1)),A\n" + bad.joined(separator: "\n")), stage)
        #expect(
            text.hasPrefix("rows.csv: 6 of 7 rows are invalid, more than 50 %: device-token 3 (rows.csv:3:1: "),
            "\(text)")
        #expect(text.contains(", csv-row 1 (rows.csv:7:") && text.contains(", empty-row 1 (rows.csv:5:1: "), "\(text)")
        #expect(text.contains("), and 1 other rule; nothing was sent: "), "\(text)")
    }

    @Test func `never sends the other rows`() async throws {
        let stage = try Stage()
        var campaign = try campaign(stage, rows(1500) { $0 % 10 != 0 })
        campaign.circuitBreaker.shares = [Campaign.CircuitBreaker.invalidRows: .never]
        let summary = try await CampaignRun(campaign).send()
        #expect(summary.ending == .complete && summary.accepted == 150 && summary.invalid == 1350)
    }

    @Test func `rows that are not sent are not judged`() async throws {
        let stage = try Stage()
        var campaign = try campaign(stage, rows(2500) { $0 <= 1000 })
        campaign.firstRow = 1001
        #expect(try await CampaignRun(campaign).send().accepted == 1500)
        let other = try Stage()
        var late = try self.campaign(other, rows(2500) { $0 > 1000 })
        late.firstRow = 1001
        #expect(try refusal(late, other).contains("1,000 of the first 1,000 rows are invalid"))
    }

    @Test(arguments: [1, 2]) func `a run ends when too many of its latest rows are invalid`(lanes: Int) async throws {
        let stage = try Stage()
        var campaign = try campaign(stage, rows(60_000) { $0 > 5000 })
        campaign.lanes = lanes
        let summary = try await CampaignRun(campaign).send()
        #expect(summary.ending == .failed && summary.exitCode == 64, "\(summary.verdict)")
        #expect(summary.accepted <= 5000 && summary.invalid < 30_000, "\(summary.verdict)")
        #expect(
            summary.cause?.contains(" rows are invalid (") == true && summary.cause?.contains("more than 50 %") == true)
    }

    @Test func `with a share of its own, all rows are judged before the first push`() throws {
        let stage = try Stage()
        var broken = try campaign(stage, rows(5000) { $0 > 4000 && $0 % 4 == 0 })
        broken.circuitBreaker.shares = share(20)
        broken.circuitBreaker.window = 1000
        let text = try refusal(broken, stage)
        #expect(text.contains(" are invalid, the limit is 20 %: device-token "), "\(text)")
        #expect(text.contains("(rows.csv:4005:1: "), "\(text)")
    }

    @Test func `a share that is reached is too large, and a smaller one is not`() async throws {
        let stage = try Stage()
        var broken = try campaign(stage, rows(100) { $0 <= 10 })
        broken.circuitBreaker.shares = share(10)
        #expect(try refusal(broken, stage).contains("10 of 100 rows are invalid, the limit is 10 %"))
        let other = try Stage()
        var sound = try campaign(other, rows(100) { $0 <= 9 })
        sound.circuitBreaker.shares = share(10)
        #expect(try await CampaignRun(sound).send().accepted == 91)
    }

    @Test func `expectations about invalid rows are judged by all rows before the first push`() async throws {
        let stage = try Stage()
        var broken = try campaign(stage, rows(3000) { $0 == 2999 })
        broken.expectations = [try CampaignExpectation("invalid == 0")]
        #expect(
            try refusal(broken, stage)
                == """
                expect: rows.csv: expected invalid == 0, found 1: device-token 1 (rows.csv:3000:1: token: expected hex digits, \
                found "x" at byte 1); nothing was sent: correct the input
                """)
        // It replaces the standard share, before the first push and while rows are sent.
        let other = try Stage()
        var sound = try campaign(other, rows(3000) { $0 % 3 != 0 })
        sound.expectations = [try CampaignExpectation("invalid <= 70%")]
        let summary = try await CampaignRun(sound).send()
        #expect(summary.ending == .complete && summary.accepted == 1000 && summary.exitCode == 0, "\(summary.verdict)")
    }

    @Test func `rows of a program are judged before the first of them is sent`() async throws {
        let stage = try Stage()
        var campaign = try campaign(stage, "").campaign
        campaign.lanes = 1
        let run = try CampaignRun(campaign, columns: ["token", "name"]) { writer in
            for number in 1...2000 {
                try await writer.write { row in
                    row.append(number % 3 == 0 ? token(number) : "xy")
                    row.append("Ann")
                }
            }
        }
        let summary = try await run.send()
        #expect(summary.ending == .failed && summary.exitCode == 64 && summary.rows == 0, "\(summary.verdict)")
        #expect(run.failure?.code == .configuration)
        #expect(stage.simulator.stop().requests == 0)
    }

    @Test func `a resumed run does not judge again`() async throws {
        let stage = try Stage()
        var campaign = try campaign(stage, rows(400) { $0 % 4 != 0 })
        campaign.circuitBreaker.shares = [Campaign.CircuitBreaker.invalidRows: .never]
        let first = try CampaignRun(campaign)
        first.stop()
        #expect(try await first.send().ending == .interrupted)
        campaign.circuitBreaker.shares = [:]
        #expect(try await CampaignRun(campaign, resuming: true).send().accepted == 100)
    }

    @Test func `a share has a range`() throws {
        for percent in [0, 100.5] {
            let stage = try Stage()
            var campaign = try campaign(stage, rows(2) { _ in false })
            campaign.circuitBreaker.shares = share(percent)
            let error = #expect(throws: CampaignError.self) { try CampaignRun(campaign) }
            #expect(error?.description.hasPrefix("circuit breaker: invalid: expected more than 0 and") == true)
        }
    }
}
