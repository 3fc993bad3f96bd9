import APNSBatchNotification
import Testing

@testable import APNSBatchModel
@testable import APNSBatchRecords

@Suite("Invalid rows by rule") struct InvalidRowsTests {
    @Test("Invalid rows are counted with the first three places, whatever their order")
    func places() {
        var (one, other) = (InvalidRows(), InvalidRows())
        for row in [8, 3, 29] as [UInt64] { one.count(row, place: "rows.csv:\(row + 1):1") }
        for row in [1, 6, 39] as [UInt64] { other.count(row, place: "rows.csv:\(row + 1):1") }
        one.count(2, place: nil)
        one.add(other)
        #expect(one.count == 7 && one.places == ["rows.csv:2:1", "rows.csv:4:1", "rows.csv:7:1"])
        #expect(one.keepsPlace(of: 5) && !one.keepsPlace(of: 6))
    }

    @Test(
        "The text of a finding begins with its place",
        arguments: [
            ("rows.csv:1042:17: badge: expected a number, found \"five\"", "rows.csv:1042:17"),
            ("/a b/x:1: y.csv:2:3: token: 4:5: no", "/a b/x:1: y.csv:2:3"), ("r:1:2: 3:4: x", "r:1:2"),
            ("no place", nil), ("rows.csv:2: x", nil), ("rows.csv:2:x: y", nil), ("", nil), ("a:1:2", nil),
        ] as [(String, String?)])
    func place(text: String, place: String?) { #expect(InvalidRows.place(in: text) == place) }

    @Test("A rule has a ledger code that follows from its name")
    func codes() {
        #expect(Set(Rule.allCases.map(\.code)).count == Rule.allCases.count)
        for rule in Rule.allCases { #expect(rule.code > 0 && Rule.named(rule.code) == rule.rawValue) }
        // The code is the folded CRC-32C of "device-token". Existing ledgers contain it.
        #expect(Rule.deviceToken.code == 0x9F22 && Rule.named(0) == nil)
    }

    @Test("Invalid rows are read from the ledger by rule, without a rule if version 0.1.0 wrote them")
    func history() throws {
        typealias Sample = LedgerSample
        let code = Rule.deviceToken.code
        let reasons = try Sample.read(
            Sample.ledger([
                { encoder, _ in encoder.add(Sample.header) }, { encoder, _ in encoder.add(Sample.session(1)) },
                { encoder, _ in encoder.add(Sample.range(1, rows: 9)) },
                { encoder, _ in
                    encoder.add(
                        Sample.batch([
                            .init(row: 7, outcome: .invalid, status: code, reason: "r.csv:8:1: x"),
                            .init(row: 2, outcome: .invalid, status: code, reason: "r.csv:3:1: x", carried: [1, 65]),
                            .init(row: 5, outcome: .invalid, reason: "r.csv:6:1: x"),
                        ]))
                },
                { encoder, _ in encoder.add(Sample.session(2)) },
                { encoder, _ in
                    encoder.add(
                        Sample.batch([
                            .init(row: 1, outcome: .invalid, status: code, reason: "r.csv:2:1: x"),
                            .init(row: 9, outcome: .invalid, status: code, reason: "r.csv:10:1: x"),
                            .init(row: 3, outcome: .invalid, status: Rule.csvRow.code, reason: "nowhere"),
                        ]))
                },
            ]).bytes
        ).history.reasons
        let rules = reasons.invalidByRule
        #expect(rules.mapValues(\.count) == ["device-token": 4, "csv-row": 1, "not recorded": 1])
        #expect(rules["device-token"]?.places == ["r.csv:2:1", "r.csv:3:1", "r.csv:8:1"])
        #expect(rules["csv-row"]?.places == [] && rules["not recorded"]?.places == ["r.csv:6:1"])
    }

    @Test("Invalid rows have no status in the results")
    func line() {
        let entry = LedgerSample.batch([
            .init(row: 1, outcome: .invalid, status: Rule.deviceToken.code, attempts: 0, token: "x", reason: "y")
        ])
        var lines = ResultLines(campaign: (1, 2))
        lines.append(entry.entries[0], of: entry)
        #expect(String(decoding: lines.bytes, as: UTF8.self).hasSuffix("1,x,invalid,,y,,,0,\n"))
    }
}
