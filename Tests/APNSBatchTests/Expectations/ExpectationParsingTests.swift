import Testing

@testable import APNSBatchModel

/// Tests of the texts of expectations.
@Suite struct ExpectationParsingTests {
    typealias Expectation = CampaignExpectation

    static let good: [(text: String, metric: Expectation.Metric, condition: Expectation.Condition)] = [
        ("rows >= 900000", .rows, .number(.atLeast, 900_000)),
        ("rows>=900000", .rows, .number(.atLeast, 900_000)),
        ("  accepted  >=  95 % ", .outcome(.accepted), .percent(.atLeast, 95)),
        ("rejected <= 0.5%", .outcome(.rejected), .percent(.atMost, 0.5)),
        ("unavailable == 0", .outcome(.unavailable), .number(.equal, 0)),
        ("invalid < 10", .outcome(.invalid), .number(.lessThan, 10)),
        ("unknown == 0", .outcome(.unknown), .number(.equal, 0)),
        ("expired <= 1%", .outcome(.expired), .percent(.atMost, 1)),
        ("suppressed <= 120%", .outcome(.suppressed), .percent(.atMost, 120)),
        ("reason:BadDeviceToken < 2%", .reason("BadDeviceToken"), .percent(.lessThan, 2)),
        ("duration <= 2h", .duration, .number(.atMost, 7200)),
        ("duration < 90s", .duration, .number(.lessThan, 90)),
        ("rate >= 1000/s", .rate, .number(.atLeast, 1000)),
        ("rate >= 60000/min", .rate, .number(.atLeast, 1000)),
        ("rate > 3600000/h", .rate, .number(.moreThan, 1000)),
        ("rows within 30% of median", .rows, .nearMedian(percent: 30)),
        ("reason:Unregistered within 200% of median", .reason("Unregistered"), .nearMedian(percent: 200)),
    ]

    @Test(arguments: good)
    func `a text is a metric and a condition`(
        text: String, metric: Expectation.Metric, condition: Expectation.Condition
    ) throws {
        let expectation = try Expectation(text)
        #expect(expectation.metric == metric && expectation.condition == condition)
        #expect(try Expectation("\(expectation)") == expectation)
    }

    static let bad = [
        ("", "expected METRIC OP VALUE"),
        ("accepted", "expected METRIC OP VALUE"),
        ("accepted 95%", "expected METRIC OP VALUE"),
        ("rows within 30% of the median", "expected METRIC OP VALUE"),
        ("acepted >= 95%", "unknown metric \"acepted\"; did you mean accepted?"),
        ("pushes >= 95%", "unknown metric \"pushes\"; the metrics are rows, accepted,"),
        (">= 95%", "unknown metric \"\""),
        ("accepted => 95%", "expected ==, >=, <=, > or <, found \"=>\""),
        ("accepted = 95%", "found \"=\""),
        ("accepted != 0", "found \"!=\""),
        ("accepted >=", "expected a whole number or a percentage, found \"\""),
        ("accepted >= -1", "found \"-1\""),
        ("accepted >= 1e3", "found \"1e3\""),
        ("accepted >= 9999999999999999", "found \"9999999999999999\""),
        ("accepted >= inf%", "expected a percentage such as 30%, found \"inf%\""),
        ("accepted >= 2h", "found \"2h\""),
        ("rows >= 90%", "expected a number of rows"),
        ("rows within 30 of median", "expected a percentage such as 30%, found \"30\""),
        ("duration <= 2", "expected a duration such as 90s, 30m or 2h, found \"2\""),
        ("duration <= 10%", "expected a duration"),
        ("rate >= 1000", "expected a rate such as 1000/s, 60000/min or 3600000/h, found \"1000\""),
        ("rate >= 1000/day", "expected a rate"),
        ("reason:BadDeviceTokn < 5%", "APNs has no reason \"BadDeviceTokn\"; did you mean BadDeviceToken?"),
        ("reason: < 5%", "APNs has no reason \"\""),
        ("invalid < 0", "can never hold"),
        ("invalid < 0%", "can never hold"),
        ("accepted > 100%", "can never hold"),
        ("accepted >= 100.5%", "can never hold"),
        ("accepted == 101%", "can never hold"),
    ]

    @Test(arguments: bad)
    func `a wrong text gets an error that says what was expected`(text: String, says: String) {
        #expect {
            try Expectation(text)
        } throws: {
            let error = $0 as? CampaignError
            return error?.code == .configuration && "\($0)".hasPrefix("expect: ") && "\($0)".contains(says)
        }
    }

    @Test(arguments: [
        (["rows >= 10", "rows < 10"], true), (["rows >= 10", "rows <= 10"], false), (["rows == 5", "rows > 5"], true),
        (["accepted >= 95%", "accepted < 90%"], true), (["accepted >= 95%", "accepted < 90"], false),
        (["rows > 10", "accepted < 5"], false), (["rows within 1% of median", "rows > 10"], false),
        (["invalid == 1", "invalid == 2"], true), (["invalid == 2", "invalid == 2"], false),
    ])
    func `expectations that exclude each other are refused`(texts: [String], isContradiction: Bool) throws {
        let expectations = try texts.map { try Expectation($0) }
        if isContradiction {
            #expect { try ExpectationJudge(expectations) } throws: {
                "\($0)" == "expect: \(texts[0]) and \(texts[1]) cannot both hold"
            }
        } else {
            _ = try ExpectationJudge(expectations)
        }
    }
}
