import InMemoryLogging
import Logging
import Testing

@testable import APNSBatch
@testable import APNSBatchModel

/// Rows that betray a broken export, in a check and in a run.
@Suite("Suspect rows") struct SuspectRowsTests {
    private static let template = Campaign.Template(
        json: Array(#"{"aps":{"alert":{"title":"Hi {{name|there}}","body":"{{text}}"}},"id":"{{id}}"}"#.utf8),
        name: "t.json")

    private func campaign(_ stage: Stage, _ rows: [String]) throws -> StagedCampaign {
        let lines = rows.enumerated().map { "\(token($0)),\($1)\n" }.joined()
        var campaign = try stage.campaign(rows: "token,name,text,id\n" + lines)
        campaign.template = Self.template
        campaign.headers.expiration = .after(.seconds(60))
        return campaign
    }

    @Test("A check counts suspect rows once, with their places, and does not refuse them")
    func check() async throws {
        let stage = try Stage()
        let rows = [
            #"Ann,hello,1"#, #"\N,line one\nline two,2"#, "NULL,Tom &amp; Jerry,3", "nan,ZoÃ« says itâ€™s ready,4",
            "Bob,50% off,5",
            ",Grüße,NULL", "Null,none,None",
        ]
        let report = try await CampaignCheck(campaign(stage, rows)).run()
        #expect(report.rows == 7 && report.rowsWithErrors == 0 && report.rowsWithWarnings == 4 && report.isClean)
        let group = try #require(report.groups.first)
        #expect(
            report.groups.count == 1 && group.rule == "suspect-text" && group.count == 7 && group.severity == .warning)
        #expect(group.examples.map(\.row) == [2, 2, 3, 3, 4, 4, 6])
        #expect(
            group.examples[0].message == #"name: found "\N", a word for no value; an empty field takes the default"#)
        #expect(
            group.examples[0].text.hasSuffix(
                #"rows.csv:3:66: name: found "\N", a word for no value; an empty field takes the default"#))
        #expect(group.examples[6].message.hasPrefix(#"id: found "NULL""#))
    }

    @Test("A check of the same rows as NDJSON finds the same")
    func ndjson() async throws {
        let stage = try Stage()
        var campaign = try stage.campaign(
            rows: #"{"token":"\#(token(1))","name":"NULL","text":{"a":1},"id":null}"# + "\n"
                + #"{"token":"\#(token(2))","name":null,"text":"caf\\u00e9","id":7}"# + "\n")
        campaign.template = Self.template
        campaign.inputFormat = .ndjson
        campaign.headers.expiration = .after(.seconds(60))
        let report = try await CampaignCheck(campaign).run()
        let found = report.groups.flatMap(\.examples).map(\.message)
        #expect(
            found == [
                #"name: found "NULL", a word for no value; an empty field takes the default"#,
                "text: found an object or array of JSON where a text belongs",
                #"text: found the characters "\u00e9", an escape that no program has read"#,
            ], "\(report.groups)")
    }

    @Test(
        "A run says it once for each rule, with the place and without the text, and sends the rows", arguments: [1, 2])
    func run(lanes: Int) async throws {
        let stage = try Stage()
        let handler = InMemoryLogHandler()
        let rows = (0..<50).map { $0 % 2 == 0 ? #"secret \n word,NULL,1"# : "Ann,a,1" }
        var campaign = try campaign(stage, rows)
        campaign.lanes = lanes
        let run = try CampaignRun(campaign, logger: Logger(label: "test") { _ in handler })
        #expect(try await run.send().accepted == 50)
        let warnings = handler.entries.filter { $0.level == .warning }.map { "\($0.message)" }
        #expect(warnings.count == 1, "\(warnings)")
        #expect(
            warnings.allSatisfy {
                $0.contains("rows.csv:") && $0.contains("suspect-text: expected that a text has no word")
            })
        #expect(
            warnings.allSatisfy {
                !$0.contains("secret") && !$0.contains("found") && $0.hasSuffix("apns-batch check names all such rows")
            })
    }

    @Test("A run looks at its first thousand rows")
    func firstRows() async throws {
        for (place, said) in [(999, 1), (1000, 0)] {
            let stage = try Stage()
            let handler = InMemoryLogHandler()
            let campaign = try campaign(stage, (0..<1100).map { $0 == place ? "NULL,a,1" : "Ann,a,1" })
            let run = try CampaignRun(campaign, logger: Logger(label: "test") { _ in handler })
            #expect(try await run.send().accepted == 1100)
            #expect(handler.entries.count { $0.level == .warning } == said)
        }
    }

    @Test("Rows with their own payload are looked at, too")
    func raw() async throws {
        let stage = try Stage()
        let handler = InMemoryLogHandler()
        let payload = #""{""aps"":{""alert"":""Hi NULL""},""id"":null,""x"":[""\\N""]}""#
        let campaign = try stage.campaign(rows: "token,payload\n\(token(1)),\(payload)\n")
        let report = try await CampaignCheck(campaign).run()
        #expect(report.groups.map(\.rule).sorted() == ["null-value", "suspect-text"] && report.isClean)
        #expect(report.groups.flatMap(\.examples).contains { $0.message.hasPrefix(#"x[0]: found "\N""#) })
        let run = try CampaignRun(campaign, logger: Logger(label: "test") { _ in handler })
        #expect(try await run.send().accepted == 1)
        #expect(handler.entries.count { $0.level == .warning && "\($0.message)".contains(":2:") } == 2)
    }

    @Test("An encrypted campaign looks at what it sends in the clear, and shows nothing of the rest")
    func sealed() async throws {
        let stage = try Stage()
        let key = try recipientPEM()
        var campaign = try stage.campaign(
            rows: "token,name,diagnosis,public_key\n\(token(1)),NULL,secret &amp; word,\"\(key)\"\n")
        campaign.template = .init(
            json: Array(#"{"aps":{"alert":"Hi {{name}}"},"d":"{{diagnosis}}"}"#.utf8), name: "t.json")
        campaign.encryption = .init(keys: ["d"])
        campaign.headers.expiration = .after(.seconds(60))
        let report = try await CampaignCheck(campaign).run()
        let messages = report.groups.flatMap(\.examples).map(\.message)
        #expect(
            messages == [#"name: found "NULL", a word for no value; an empty field takes the default"#], "\(report)")
    }
}
