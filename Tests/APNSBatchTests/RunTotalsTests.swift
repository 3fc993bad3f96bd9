import Foundation
import Testing

@testable import APNSBatch
@testable import APNSBatchModel
@testable import APNSBatchRecords

/// Tests that every outcome has its number in all that is stored of a run, and that what earlier versions have stored is read.
@Suite struct RunTotalsTests {
    private typealias Object = [String: Any]

    /// A `summary.json` as version 0.2.0 has written it.
    private static let summary = """
        {"accepted": 70, "all_sessions": \(work), "attempts": 104, "campaign": {"began": "2026-11-21T02:00:00Z",
        "destination": "api.push.apple.com:443", "ended": "2026-11-21T02:10:00Z", "id": "0e2a8c9e-2f7f-4a52-9d0c-0f5d5c6d7e8f",
        "input": "rows.csv", "input_bytes": 9000, "version": "0.2.0"}, "changes": [], "ending": "complete", "exit_code": 2,
        "expectations": [{"found": 70, "holds": true, "limit": 0, "metric": "accepted", "text": "accepted > 0"}],
        "expired": 3, "invalid": 5, "invalid_rules": {"token-hex": {"places": ["rows.csv:2:1"], "rows": 5}},
        "last_session": \(work), "left": 0, "left_is_estimated": false, "may_be_sent": 0, "not_read": 0, "not_sent": 0,
        "reasons": {"BadDeviceToken": 2, "Unregistered": 9}, "rejected": 11, "resent": 1, "rows": 100, "sessions": 2,
        "suppressed": 2, "unavailable": 7, "unavailable_reasons": {"TooManyRequests": 7}, "unknown": 2,
        "verdict": "LOOK: expected invalid == 0, found 5"}
        """

    private static let work = """
        {"accepted": 70, "accepted_per_second": 0.5, "connections_ended": {}, "connections_opened": 1, "elapsed_seconds": 140,
        "requests": 104, "retries": {}, "rows": 100}
        """

    /// The figures of a line of `runs.ndjson` as version 0.2.0 has written it.
    private static let figures = """
        {"accepted": 70, "accepted_per_second": 0.5, "expired": 3, "invalid": 5,
        "reasons": {"TooManyRequests": 7, "Unregistered": 9}, "rejected": 11, "rows": 100, "seconds": 140,
        "suppressed": 2, "unavailable": 7, "unknown": 2}
        """

    private static func decode<Value: Decodable>(_: Value.Type, _ text: String) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(text.utf8))
    }

    private static func object(_ text: String) throws -> NSDictionary {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? NSDictionary)
    }

    private static func members(of value: some Encodable) throws -> NSDictionary {
        try object(String(decoding: try JSONEncoder().encode(value), as: UTF8.self))
    }

    /// Returns the text of an object without a member.
    private static func text(_ text: String, without key: String) throws -> String {
        let object = try #require(try object(text) as? Object)
        return String(
            decoding: try JSONSerialization.data(withJSONObject: object.filter { $0.key != key }), as: UTF8.self)
    }

    @Test func `what version 0_2_0 has stored is read, and written with the same members`() throws {
        let summary = try Self.decode(CampaignSummary.self, Self.summary)
        #expect(summary.rows == 100 && summary.accepted == 70 && summary.attempts == 104 && summary.resent == 1)
        #expect(summary.reasons == ["BadDeviceToken": 2, "Unregistered": 9])
        #expect(summary.unavailableReasons == ["TooManyRequests": 7] && summary.totals[reasonsOf: .unknown].isEmpty)
        #expect(try Self.members(of: summary) == Self.object(Self.summary))
        let figures = try Self.decode(RunFigures.self, Self.figures)
        #expect(figures.rows == 100 && figures.reasons == ["TooManyRequests": 7, "Unregistered": 9])
        #expect(try Self.members(of: figures) == Self.object(Self.figures))
    }

    @Test(arguments: Outcome.allCases)
    func `every outcome has its member, and one that is missing has no rows`(outcome: Outcome) throws {
        let name = "\(outcome.name)"
        var summary = try Self.decode(CampaignSummary.self, Self.summary)
        summary[outcome] = 1_000
        if outcome.isAnswered { summary.totals[reasonsOf: outcome] = ["Some": 1_000] }
        let members = try Self.members(of: summary)
        #expect(members[name] as? Int == 1_000 && members["rows"] as? UInt64 == summary.rows)
        let data = try JSONEncoder().encode(summary)
        #expect(try JSONDecoder().decode(CampaignSummary.self, from: data) == summary)
        #expect(try Self.decode(CampaignSummary.self, Self.text(Self.summary, without: name))[outcome] == 0)

        let figures = RunFigures(summary.totals, seconds: 1.5, acceptedPerSecond: 2.5)
        #expect(try Self.members(of: figures)[name] as? Int == 1_000)
        #expect(try JSONDecoder().decode(RunFigures.self, from: JSONEncoder().encode(figures)) == figures)
        #expect(try Self.decode(RunFigures.self, Self.text(Self.figures, without: name))[outcome] == 0)

        let judged = try CampaignExpectation("\(name) == 1000")
        #expect(judged.metric == .outcome(outcome) && "\(judged.metric)" == name)
        #expect(figures.value(of: judged.metric) == 1_000)
        #expect(Outcome(name: name) == outcome && Outcome(name: name.uppercased()) == nil)
    }

    @Test(arguments: ["attempts", "resent", "reasons", "unavailable_reasons"])
    func `a summary without requests or reasons has none`(key: String) throws {
        let summary = try Self.decode(CampaignSummary.self, Self.text(Self.summary, without: key))
        #expect(try Self.members(of: summary).allKeys.count == Self.object(Self.summary).allKeys.count)
        #expect(summary.rows == 100)
    }

    /// The compiler does not ask for a member of a new outcome.
    @Test func `every outcome has a member of its own`() {
        let paths: [WritableKeyPath<RunTotals, UInt64>] = [
            \.accepted, \.rejected, \.unavailable, \.invalid, \.unknown, \.expired, \.suppressed,
        ]
        #expect(paths.count == Outcome.allCases.count)
        for (path, outcome) in zip(paths, Outcome.allCases) {
            var totals = RunTotals()
            totals[keyPath: path] = 5
            #expect(totals[outcome] == 5 && totals.rows == 5 && totals[keyPath: path] == 5)
        }
    }

    @Test func `totals of parts are added up, with a limited number of reasons, and never overflow`() {
        var (sum, part) = (RunTotals(), RunTotals())
        (part.accepted, part.rejected, part.attempts, part.resent) = (UInt64.max, 300, 7, 2)
        part[reasonsOf: .rejected] = Dictionary(uniqueKeysWithValues: (0..<300).map { ("Reason\($0)", 1) })
        sum += part
        sum += part
        #expect(sum.accepted == .max && sum.rows == .max && sum.rejected == 600)
        #expect(sum.attempts == 14 && sum.resent == 4 && sum.rows(where: \.canBeCorrected) == 0)
        #expect(sum[reasonsOf: .rejected].count == 257 && sum[reasonsOf: .rejected].values.reduce(0, +) == 600)
        #expect(sum[reasonsOf: .unavailable].isEmpty)
    }

    /// A row that APNs accepted, or that may have arrived, would be sent a second time.
    @Test func `only rows that were not delivered can be corrected or sent again`() {
        #expect(Outcome.allCases.filter(\.canBeCorrected) == [.unavailable, .invalid, .expired])
        #expect(Outcome.allCases.filter(\.canBeReopened) == [.unavailable])
        #expect(Outcome.allCases.filter { $0.arrival == .maybeSent } == [.unknown])
    }

    @Test func `an outcome that no run should have has an advice`() {
        for outcome in Outcome.allCases where outcome.share == .none {
            #expect(outcome.advice != nil && outcome.nextStep("2 rows")?.contains("2 rows") == true, "\(outcome)")
        }
    }
}
