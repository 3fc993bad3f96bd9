import APNSBatchBasics
import Testing

@testable import APNSBatchModel

/// Tests of the judgement on a run, from its figures and those of earlier nights.
@Suite struct ExpectationJudgeTests {
    /// A run of 1,000 rows, 100 of them suppressed.
    private static let night = figures {
        ($0.accepted, $0.rejected, $0.suppressed) = (855, 45, 100)
        $0.reasons = ["Unregistered": 40, "BadDeviceToken": 5]
        ($0.seconds, $0.acceptedPerSecond) = (90.5, 855 / 90.5)
    }

    private static func figures(_ change: (inout RunFigures) -> Void) -> RunFigures {
        var figures = RunFigures()
        change(&figures)
        return figures
    }

    private static func nights(rows: [UInt64]) -> [RunFigures] { rows.map { count in figures { $0.accepted = count } } }

    private func judge(_ text: String, _ figures: RunFigures, earlier: [RunFigures] = []) throws -> JudgedExpectation {
        try #require(try ExpectationJudge([CampaignExpectation(text)], earlier: earlier).judge(figures).first)
    }

    @Test(arguments: [
        ("rows == 1000", true), ("rows > 1000", false), ("rows >= 1000", true), ("rows < 1000", false),
        ("rows <= 999", false), ("accepted >= 95%", true), ("accepted > 95%", false), ("rejected <= 5%", true),
        ("rejected < 5%", false), ("suppressed <= 100", true), ("reason:Unregistered == 40", true),
        ("reason:BadDeviceToken < 5", false), ("reason:ExpiredToken == 0", true), ("duration <= 90s", false),
        ("duration < 2m", true), ("rate >= 9/s", true), ("rate >= 10/s", false), ("rate >= 566/min", true),
    ])
    func `figures are compared with numbers, and with percentages of the rows that were to be sent`(
        text: String, holds: Bool
    ) throws {
        #expect(try judge(text, Self.night).holds == holds)
    }

    @Test func `the limit of a percentage is a number of rows`() throws {
        let judged = try judge("accepted >= 99%", Self.night)
        #expect(judged.limit == 891 && judged.found == 855 && judged.holds == false)
        #expect(judged.sentence == "expected accepted >= 99%, found 855 (limit 891)")
    }

    /// 0.07 * 100 / 100 is not 0.07 in binary fractions.
    @Test(arguments: [0.1, 0.07, 0.29, 1.1, 2.3, 58.1, 99.9])
    func `a percentage that is met exactly holds`(percent: Double) throws {
        let figures = Self.figures {
            $0.rejected = UInt64((percent * 1000).rounded())
            $0.accepted = 100_000 - $0.rejected
        }
        for sign in ["==", "<=", ">="] {
            #expect(try judge("rejected \(sign) \(percent)%", figures).holds == true)
        }
    }

    @Test(arguments: [0.0, 1e18, 1e19, 1.7e308, -1e308, .infinity, .nan])
    func `figures of any size can be judged and shown`(number: Double) throws {
        let count = UInt64(saturating: number)
        let huge = Self.figures {
            ($0.accepted, $0.suppressed, $0.reasons) = (count, count, ["Unregistered": count])
            ($0.seconds, $0.acceptedPerSecond) = (number, number)
        }
        for metric in ["rows", "accepted", "suppressed", "reason:Unregistered", "duration", "rate"] {
            let text = "\(metric) within 30% of median"
            #expect(!(try judge(text, Self.night, earlier: [huge, huge, huge]).sentence).isEmpty)
            #expect(!(try judge(text, huge, earlier: [Self.night, huge, huge]).sentence).isEmpty)
        }
    }

    @Test func `of no rows, 0 percent are accepted`() throws {
        #expect(try judge("accepted >= 95%", RunFigures()).holds == false)
        #expect(try judge("invalid <= 1%", RunFigures()).holds == true)
    }

    @Test func `the standard expectations apply to metrics without another expectation`() throws {
        let standard = ExpectationJudge.standard.judge(Self.night)
        #expect(
            standard.map(\.text) == [
                "accepted > 0", "unavailable == 0", "invalid == 0", "unknown == 0", "expired == 0",
            ])
        #expect(standard.allSatisfy { $0.holds == true })
        let nothing = ExpectationJudge.standard.judge(RunFigures())
        #expect(nothing.filter { $0.holds == false }.map(\.text) == ["accepted > 0"])
        let own = try ExpectationJudge([CampaignExpectation("invalid <= 1%"), CampaignExpectation("duration < 2h")])
        #expect(
            own.expectations.map(\.description) == [
                "invalid <= 1%", "duration < 2h", "accepted > 0", "unavailable == 0", "unknown == 0", "expired == 0",
            ])
    }

    @Test(arguments: [(700, true), (699, false), (1300, true), (1301, false)])
    func `a figure near the median of earlier nights`(rows: UInt64, holds: Bool) throws {
        let judged = try judge(
            "rows within 30% of median", Self.figures { $0.accepted = rows },
            earlier: Self.nights(rows: [1, 990, 1000, 1010, 5000]))
        #expect(judged.limit == 1000 && judged.nights == 5 && judged.holds == holds)
    }

    @Test func `the median is that of the last 14 nights, and between the middle two`() throws {
        let earlier = Self.nights(
            rows: [9, 9, 9, 9, 9, 9, 9] + [10, 10, 10, 10, 10, 10, 10, 20, 20, 20, 20, 20, 20, 20])
        let judged = try judge("rows within 0% of median", Self.figures { $0.accepted = 15 }, earlier: earlier)
        #expect(judged.limit == 15 && judged.nights == 14 && judged.holds == true)
    }

    @Test func `with two earlier nights, nothing is judged by a median`() throws {
        let judged = try judge("rows within 30% of median", RunFigures(), earlier: Self.nights(rows: [10, 10]))
        #expect(judged.holds == nil && judged.limit == nil && judged.nights == 2)
        #expect(
            judged.sentence
                == "expected rows within 30% of median, found 0 (not judged: 2 earlier nights in the history, 3 are needed)"
        )
    }

    static let counted: [(texts: [String], enough: UInt64?)] = [
        (["rows >= 5"], 5), (["rows > 5", "rows >= 2"], 6), (["rows >= 5", "rows < 9"], nil), (["rows == 5"], nil),
        ([], 0), (["accepted <= 5"], 0), (["rows within 10% of median"], 0),
    ]

    @Test(arguments: counted)
    func `rows are counted only as far as the expectations need`(texts: [String], enough: UInt64?) throws {
        #expect(try ExpectationJudge(texts.map { try CampaignExpectation($0) }).rowsThatSuffice == enough)
    }

    @Test func `rows are counted to the end for a median`() throws {
        let expectations = [try CampaignExpectation("rows within 10% of median")]
        let judge = try ExpectationJudge(expectations, earlier: Self.nights(rows: [10, 10, 10]))
        #expect(judge.rowsThatSuffice == nil)
        #expect(judge.unmet(rows: 9) == nil && judge.unmet(rows: 8)?.found == 8)
    }
}
