import Foundation
import Testing

@testable import APNSBatch
@testable import APNSBatchModel

/// Rows that name their fields, judged by the first ones.
@Suite("First rows of NDJSON") struct FirstColumnsTests {
    private static func campaign(
        _ stage: Stage, _ rows: String, _ template: String = #"{"aps":{"alert":"Hi {{name}}"}}"#
    ) throws -> StagedCampaign {
        var campaign = try stage.campaign(rows: rows)
        campaign.template = .init(json: Array(template.utf8), name: "t.json")
        campaign.inputFormat = .ndjson
        campaign.lanes = 1
        return campaign
    }

    private static func rows(_ count: Int, _ row: (Int) -> String) -> String {
        (1...count).map { "{\"token\":\"\(token($0))\"\(row($0))}\n" }.joined()
    }

    private func error(_ campaign: StagedCampaign) -> String {
        do throws(CampaignError) {
            _ = try CampaignCheck(campaign)
            return "none"
        } catch {
            #expect(error.code == .configuration)
            return error.description
        }
    }

    private static let faults: [(row: String, error: String, change: @Sendable (inout StagedCampaign) -> Void)] = [
        (#","nam":"Ada""#, #"t.json:1:21: unknown column "name"; did you mean "nam"?"#, { _ in }),
        (#","Name":"Ada""#, #"t.json:1:21: unknown column "name"; did you mean "Name"?"#, { _ in }),
        (
            #","name":"Ada","Segment":1"#,
            #"result columns: rows.csv has no column "segment"; did you mean "Segment"?"#,
            { $0.resultColumns = ["segment"] }
        ),
        (
            #","name":"Ada","id":1"#, #"unknown column "idx"; did you mean "id"?"#,
            { $0.headers.collapseID = "c-{{idx}}" }
        ),
        (#","name":"Ada""#, "no topic: give one for the campaign, or a column \"topic\"", { $0.headers.topic = nil }),
        (
            #","name":"Ada""#, "no column \"public_key\" with the recipient's key",
            { $0.encryption = .init(keys: ["x"]) }
        ),
        (
            #","name":"Ada","OptOu":1"#, #"only: rows.csv has no column "OptOut"; did you mean "OptOu"?"#,
            { $0.only = ["OptOut": [""]] }
        ),
        (
            #","User":{"Name":1}"#,
            #"none of the first 3 rows has "User.name", which is to be "name"; did you mean "User.Name"?"#,
            { $0.columns = ["name": "User.name"] }
        ),
        (
            #","name":"Ada""#, "templates by locale need a column \"locale\"",
            {
                $0.templates = .init(by: .locale, ["en": $0.campaign.template!], fallback: "en")
                $0.campaign.template = nil
            }
        ),
    ]

    @Test("What none of the first rows has is an error, as an unknown column of CSV is", arguments: faults.indices)
    func missing(_ index: Int) throws {
        let (row, wanted, change) = Self.faults[index]
        let stage = try Stage()
        var campaign = try Self.campaign(stage, Self.rows(3) { _ in row })
        change(&campaign)
        let found = error(campaign).replacing(stage.directory.path + "/", with: "")
        #expect(found.contains(wanted), "\(found)")
        #expect(throws: CampaignError.self) { try CampaignRun(campaign) }
        #expect(throws: CampaignError.self) { try CampaignPreview(campaign) }
    }

    @Test("A part is not judged by its own first rows: the program that divided the input has judged them all")
    func part() async throws {
        let stage = try Stage()
        var campaign = try Self.campaign(stage, Self.rows(3) { _ in #","User":{"Name":1}"# })
        campaign.columns = ["name": "User.name"]
        #expect(throws: CampaignError.self) { try CampaignRun(campaign) }
        campaign.isPart = true
        let summary = try await CampaignRun(campaign).send()
        #expect(summary.accepted == 3)
    }

    @Test("A token in other letter case is an error that says how it is written")
    func tokenInOtherCase() throws {
        let stage = try Stage()
        let campaign = try Self.campaign(stage, "{\"Token\":\"\(token(1))\",\"name\":\"Ada\"}\n")
        #expect(error(campaign).contains("no column \"token\"; there are"))
        #expect(error(campaign).hasSuffix("column names are in lower case, without spaces"), "\(error(campaign))")
    }

    @Test("One of the first 1,000 rows is enough, with null, and later ones may have what these lack")
    func later() async throws {
        let stage = try Stage()
        let late = #","name":"Ada","push_type":"background","priority":"10","expiration":"0""#
        var campaign = try Self.campaign(
            stage, Self.rows(1200) { $0 == 1000 ? #","name":null"# : $0 == 1200 ? late : "" })
        campaign.template = .init(
            json: Array(
                #"{"aps":{"alert":"{{name?}}","sound":"default","content-available":1},"name":"{{name?}}"}"#.utf8),
            name: "t.json")
        let report = try await CampaignCheck(campaign).run()
        #expect(report.rows == 1200 && report.rowsWithErrors <= 1)
        #expect(report.groups.contains { $0.examples.map(\.row) == [1200] }, "\(report.groups)")
        let preview = try CampaignPreview(campaign)
        var last: CampaignPreview.Row?
        while let row = try preview.next() { last = row }
        let shown = try #require(last)
        #expect(
            shown.headers.contains { $0.name == "apns-push-type" && $0.value == "background" }
                || shown.invalid?.contains("background") == true)
        campaign.campaign.template = .init(json: Array(#"{"aps":{"alert":"{{other}}"}}"#.utf8), name: "t.json")
        #expect(error(campaign).contains("unknown column \"other\""))
        #expect(error(try Self.campaign(stage, Self.rows(1001) { $0 == 1001 ? #","name":"Ada""# : "" })) != "none")
        // Nothing can be said of an input without rows.
        #expect(error(try Self.campaign(stage, "")) == "none")
    }

    @Test("What all rows lack is reported once, as for CSV, by check and by a run")
    func once() async throws {
        let stage = try Stage()
        let rows = Self.rows(50) { _ in #","name":"Ada""# }
        let csv = "token,name\n" + (1...50).map { "\(token($0)),Ada\n" }.joined()
        var findings: [[String]] = []
        for (rows, format) in [(rows, Campaign.InputFormat.ndjson), (csv, .csv)] {
            var campaign = try Self.campaign(stage, rows)
            campaign.inputFormat = format
            campaign.headers.topic = "com.example.app"
            campaign.headers.priority = .init(5)
            let report = try await CampaignCheck(campaign).run()
            #expect(report.groups.isEmpty && report.rowsWithWarnings == 0, "\(report.groups)")
            #expect(try CampaignRun(campaign).warnings.map(\.rule) == report.campaign.map(\.rule))
            findings.append(report.campaign.map(\.text))
        }
        #expect(findings[0] == findings[1] && findings[0].contains { $0.hasPrefix("expiration: none given") })
    }

    @Test("A row with a value of its own has findings of its own")
    func own() async throws {
        let stage = try Stage()
        var campaign = try Self.campaign(
            stage,
            Self.rows(1100) { number in
                #","name":"Ada""#
                    + (number == 1050
                        ? #","push_type":"background","priority":"10""#
                        : number == 1060 ? #","topic":"com.example.app.voip""# : "")
            }, #"{"aps":{"alert":"Hi {{name}}","content-available":1}}"#)
        campaign.headers.expiration = .after(.seconds(60))
        let report = try await CampaignCheck(campaign).run()
        let rows = report.groups.flatMap(\.examples).compactMap(\.row)
        #expect(rows.contains(1050) && Set(rows).isSubset(of: [1050, 1060]), "\(report.groups)")
    }

    @Test("A template that breaks a rule in every row is refused, and counted once")
    func broken() async throws {
        let stage = try Stage()
        let campaign = try Self.campaign(
            stage, Self.rows(30) { _ in #","name":"Ada""# }, #"{"aps":{"badge":"{{name}}"}}"#)
        #expect(throws: CampaignError.self) { try CampaignRun(campaign) }
        let report = try await CampaignCheck(campaign).run()
        #expect(report.isBroken && report.groups.isEmpty && report.rowsWithErrors == 30, "\(report)")
    }

    @Test("Keys that nothing uses are named as unused columns are")
    func unused() async throws {
        let stage = try Stage()
        let row = #","name":"Ada","Expiration":"1h","extra":{"a":1}"#
        let campaign = try Self.campaign(stage, Self.rows(3) { _ in row })
        let found = try await CampaignCheck(campaign).run().campaign.filter { $0.rule == "unused-column" }
        #expect(found.count == 2 && found[0].message.hasSuffix("did you mean \"expiration\"?"), "\(found)")
        #expect(found.last?.message == "column \"extra\": nothing uses it")
    }

    @Test("A run that an earlier version began is resumed, whatever its first rows have")
    func resumed() async throws {
        let stage = try Stage()
        let campaign = try Self.campaign(stage, Self.rows(3) { _ in "" }, #"{"aps":{"alert":"Hi"}}"#)
        try FileManager.default.createDirectory(atPath: campaign.runDirectory ?? "", withIntermediateDirectories: true)
        let files = MemoryFiles()
        #expect(try await CampaignRun(campaign, files: files).send().accepted == 3)
        _ = try stage.write("{}\n", to: "rows.csv")
        #expect(throws: CampaignError.self) { try CampaignCheck(campaign) }
        _ = try stage.write(Self.rows(3) { _ in "" }, to: "rows.csv")
        #expect(try await CampaignRun(campaign, resuming: true, files: files.copy()).send().ending == .complete)
    }
}
