import Testing

@testable import APNSBatch
@testable import APNSBatchModel
@testable import APNSBatchRecords

/// Tests that each cause in a verdict is counted apart, with its own advice, and none twice.
@Suite("Advice of verdicts") struct VerdictAdviceTests {
    private static func summary(
        _ counts: [Outcome: UInt64], reasons: [String: UInt64] = [:], resent: UInt64 = 0,
        expecting texts: [String] = []
    ) throws -> CampaignSummary {
        var summary = CampaignSummary(
            left: 0, isLeftEstimated: false, sessions: 1, allSessions: .none, lastSession: .none, invalidRules: [:],
            ending: .complete, exitCode: 0,
            campaign: .init(
                id: CampaignID((1, 2)), version: "", destination: "", input: "rows.csv", inputBytes: 1,
                began: "2026-11-21T02:00:00Z", ended: "2026-11-21T02:00:00Z"))
        for (outcome, rows) in counts { summary[outcome] = rows }
        (summary.reasons, summary.resent) = (reasons, resent)
        summary.conclude(try ExpectationJudge(try texts.map { try CampaignExpectation($0) }))
        return summary
    }

    private static let threeReasons: [String: UInt64] = [
        "Unregistered": 7_093, "BadDeviceToken": 615, "DeviceTokenNotForTopic": 133,
    ]

    @Test("Each reason has its own number of rows and its own remedy", arguments: ["accepted", "rejected"])
    func reasons(metric: String) throws {
        let text = metric == "accepted" ? "accepted >= 95%" : "rejected == 0"
        let verdict = try Self.summary(
            [.accepted: 52_159, .rejected: 7_841], reasons: Self.threeReasons, expecting: [text]
        ).verdict
        #expect(
            verdict.contains(
                "Unregistered 7,093 (delete the token; the app sends a new one when it is opened), "
                    + "BadDeviceToken 615 (check that the token is complete and belongs to this environment: sandbox tokens "
                    + "come from debug builds), DeviceTokenNotForTopic 133 (give the topic of the app that got this token)"
            ),
            "\(verdict)")
        #expect(verdict.components(separatedBy: "delete").count == 2, "\(verdict)")
    }

    @Test("What has no reason, an undocumented one, or is beyond the third is counted as well")
    func others() throws {
        var reasons = Self.threeReasons
        reasons["BadTopic"] = 7
        reasons["a device token"] = 2
        let verdict = try Self.summary(
            [.accepted: 1, .rejected: 7_853], reasons: reasons, expecting: ["rejected == 0"]
        ).verdict
        #expect(verdict.contains("without a reason 3 (not an answer of APNs: results.csv has the status"), "\(verdict)")
        #expect(verdict.contains("other reasons 9 (see results.csv)") && !verdict.contains("a device"), "\(verdict)")
    }

    @Test("A single reason is named without a number of its own")
    func single() throws {
        let verdict = try Self.summary(
            [.rejected: 20], reasons: ["BadDeviceToken": 20]
        ).verdict
        #expect(
            verdict.hasPrefix("LOOK: expected accepted > 0, found 0; 20 rows are rejected: BadDeviceToken: check that"),
            "\(verdict)")
    }

    @Test("All outcomes are named when too few rows were accepted, and no advice is given twice")
    func outcomes() throws {
        let verdict = try Self.summary(
            [.accepted: 10, .rejected: 3, .unavailable: 20, .invalid: 7], reasons: ["Unregistered": 3],
            expecting: ["accepted >= 95%", "reason:Unregistered == 0"]
        ).verdict
        for part in [
            "20 rows are unavailable: resume the run", "7 rows are invalid: correct", "3 rows are rejected: Unr",
        ] {
            #expect(verdict.components(separatedBy: part).count == 2, "\(part): \(verdict)")
        }
        #expect(verdict.components(separatedBy: "delete the token").count == 2, "\(verdict)")
        #expect(verdict.components(separatedBy: "correct the rows").count == 2, "\(verdict)")
    }

    @Test("Each expectation that is not met has its advice, not only the first one")
    func severalExpectations() throws {
        let verdict = try Self.summary(
            [.accepted: 10, .unavailable: 2, .unknown: 1], expecting: ["unavailable == 0", "unknown == 0"]
        ).verdict
        #expect(verdict.contains("--retry-unavailable") && verdict.contains("may have arrived: decide"), "\(verdict)")
    }

    @Test("If every row was accepted, no row is blamed")
    func allAccepted() throws {
        let verdict = try Self.summary([.accepted: 2], expecting: ["accepted <= 1"]).verdict
        #expect(
            verdict.hasSuffix("found 2; every row was accepted: check the export that wrote the input"), "\(verdict)")
    }

    @Test("Pushes that a device may have got twice are in every verdict")
    func repetitions() throws {
        var summary = try Self.summary([.accepted: 60_000], resent: 159)
        #expect(summary.verdict.hasSuffix("; 159 rows may have arrived twice"), "\(summary.verdict)")
        summary.lastSession.duplicateTokens = DuplicateTokens(rows: 12, sampledOneIn: 1, examples: [[1, 2]])
        summary.conclude(.standard)
        #expect(summary.verdict.hasPrefix("OK: 60,000 of"), "\(summary.verdict)")
        #expect(
            summary.verdict.hasSuffix("; 159 rows may have arrived twice; 12 rows have the token of another row"),
            "\(summary.verdict)")
        (summary.ending, summary.left) = (.interrupted, 3)
        summary.conclude(.standard)
        #expect(summary.verdict.contains("159 rows may have arrived twice; 12 rows have"), "\(summary.verdict)")
        #expect(
            summary.verdict.hasSuffix("3 rows are left"),
            "a run without exit code 75 is not resumed: \(summary.verdict)")
    }
}
