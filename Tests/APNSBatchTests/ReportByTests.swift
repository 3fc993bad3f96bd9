import Foundation
import Testing

@testable import APNSBatch
@testable import APNSBatchModel
@testable import APNSBatchRecords
@testable import APNSBatchSimulator

/// Tests of the counts of rows by the values of columns.
@Suite("Rows by the values of a column") struct ReportByTests {
    private static func campaign(_ stage: Stage, rows: String) throws -> StagedCampaign {
        var campaign = try stage.campaign(rows: rows)
        campaign.template = .init(json: Array(#"{"aps":{"alert":"Hi"}}"#.utf8), name: "t.json")
        (campaign.resultColumns, campaign.reportBy) = (["user", "segment"], ["segment"])
        campaign.lanes = 1
        return campaign
    }

    private typealias Group = CampaignSummary.Breakdown.Group

    @Test("Each value is counted by outcome, with those that are altered in the results, and over all sessions")
    func counts() async throws {
        let stage = try Stage()
        let names = ["north", "=south", "", "\"a, b\""]
        let rows =
            "token,user,segment\n"
            + (0..<400).map { "\($0 % 10 == 9 ? "no token" : token($0)),u\($0),\(names[$0 % 4])\n" }.joined()
        let campaign = try Self.campaign(stage, rows: rows)
        let first = try CampaignRun(campaign)
        first.stop()
        let stopped = try await first.send()
        #expect(stopped.ending == .interrupted && stopped.breakdowns != nil)
        let summary = try await CampaignRun(campaign, resuming: true).send()
        let breakdown = try #require(summary.breakdowns?.first)
        #expect(summary.breakdowns?.count == 1 && breakdown.column == "segment" && breakdown.others == nil)
        // Rows 9, 19, 29 …: every tenth is invalid; of the four names those with odd numbers have them.
        #expect(
            breakdown.values == [
                Group(value: "", rows: 100, outcomes: ["accepted": 100]),
                Group(value: "=south", rows: 100, outcomes: ["accepted": 80, "invalid": 20]),
                Group(value: "a, b", rows: 100, outcomes: ["accepted": 80, "invalid": 20]),
                Group(value: "north", rows: 100, outcomes: ["accepted": 100]),
            ])
        #expect(RunDirectory.readSummary(campaign.runDirectory ?? "")?.breakdowns == summary.breakdowns)
        let again = try await CampaignRun(campaign, resuming: true).send()
        #expect(again.breakdowns == summary.breakdowns, "a complete run answers with its counts")
        try FileManager.default.removeItem(atPath: campaign.runDirectory! + "/summary.json")
        #expect(try await CampaignRun(campaign, resuming: true).send().breakdowns == summary.breakdowns)
    }

    @Test("The columns must be among those of the results")
    func unknown() throws {
        let stage = try Stage()
        var campaign = try Self.campaign(stage, rows: "token,user,segment\n\(token(1)),u,s\n")
        for (names, text) in [
            (["segmnt"], "report by: \"segmnt\" is not among the result columns; did you mean \"segment\"?"),
            (["segment", "segment"], "report by: \"segment\" is named twice"),
        ] {
            campaign.reportBy = names
            let wrong = campaign
            #expect { try CampaignRun(wrong) } throws: { "\($0)" == text }
            #expect { try CampaignCheck(wrong) } throws: { "\($0)" == text }
        }
    }

    private static func count(_ counts: inout ValueCounts, _ value: String, _ outcome: Outcome = .accepted) {
        Array(value.utf8).withUnsafeBytes { counts.count($0, outcome) }
    }

    @Test("The number of values is bounded, and every row is counted once")
    func bounded() {
        var counts = ValueCounts(column: "user")
        for number in 0..<5_000 { Self.count(&counts, "user \(number)") }
        for number in 0..<5_000 { Self.count(&counts, "user \(number)", .rejected) }
        #expect(counts.values.count == ValueCounts.valuesMax)
        #expect(counts.values.allSatisfy { $0.counts[.accepted] == 1 && $0.counts[.rejected] == 1 })
        #expect(counts.others[.accepted] == 4_000 && counts.others[.rejected] == 4_000)
        for _ in 0..<10 { Self.count(&counts, "user 7") }
        #expect(counts.values.first?.value == "user 7" && counts.values.first?.counts.sum == 12)
        let breakdown = CampaignSummary.Breakdown(counts)
        #expect(breakdown.values.count == 50 && breakdown.values.first?.value == "user 7")
        #expect(breakdown.values.reduce(0) { $0 + $1.rows } + (breakdown.others?.rows ?? 0) == 10_010)
    }

    @Test("Lines that a killed process has cut are left out")
    func cutLine() throws {
        let path = "/tmp/results-\(UUID()).csv"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let header = "row,token,outcome,status,reason,timestamp,apns_id,attempts,apns_unique_id,segment\n"
        let whole = "1,\(token(1)),accepted,200,,,,1,,a\n2,\(token(2)),rejected,410,Unregistered,1,,1,,a\n"
        for cut in ["3", "3,\(token(3)),accepted,200,,,,1,", "3,\(token(3)),accept"] {
            try Data((header + whole + cut).utf8).write(to: URL(filePath: path))
            let counts = try ResultsBreakdown(of: path, by: ["segment", "absent"]).columns
            #expect(counts.count == 1 && counts[0].values.count == 1 && counts[0].values[0].counts.sum == 2, "\(cut)")
        }
    }

    @Test("Parts are added value by value")
    func parts() {
        func breakdown(_ value: String, _ rows: UInt64, others: UInt64) -> CampaignSummary.Breakdown {
            .init(
                column: "segment", values: [Group(value: value, rows: rows, outcomes: ["accepted": rows])],
                others: Group(value: nil, rows: others, outcomes: ["invalid": others]))
        }
        let sum = [breakdown("a", 1, others: 2)].adding([breakdown("a", 10, others: 20)]).adding([
            breakdown("b", 5, others: 1)
        ])
        #expect(
            sum == [
                .init(
                    column: "segment",
                    values: [
                        Group(value: "a", rows: 11, outcomes: ["accepted": 11]),
                        Group(value: "b", rows: 5, outcomes: ["accepted": 5]),
                    ], others: Group(value: nil, rows: 23, outcomes: ["invalid": 23]))
            ])
    }
}
