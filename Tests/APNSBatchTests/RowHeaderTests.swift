import APNSBatchBasics
import APNSBatchSimulator
import Testing

@testable import APNSBatch
@testable import APNSBatchModel

@Suite("Headers and templates by row")
struct RowHeaderTests {
    private static let template = Campaign.Template(
        json: Array(#"{"aps":{"alert":"{{text}}"}}"#.utf8), name: "t.json")

    private func preview(
        _ rows: String, _ change: (inout StagedCampaign) -> Void
    ) throws -> [CampaignPreview.Row] {
        let stage = try Stage()
        var campaign = try stage.campaign(rows: rows)
        change(&campaign)
        let preview = try CampaignPreview(campaign)
        var shown: [CampaignPreview.Row] = []
        while let row = try preview.next() { shown.append(row) }
        return shown
    }

    private func value(_ name: String, of row: CampaignPreview.Row) -> String? {
        row.headers.first { $0.name == name }?.value
    }

    @Test("A collapse id is filled from columns, replaced by a row's own, and omitted when empty")
    func collapseID() throws {
        let long = String(repeating: "x", count: 65)
        let rows = try preview(
            "token,text,story,collapse_id\n\(token(1)),a,7,\n\(token(2)),a,7,own\n\(token(3)),a,,\n\(token(4)),a,\(long),\n"
                + "\(token(5)),a,\u{7},\n"
        ) {
            $0.template = Self.template
            $0.headers.collapseID = "{{story}}"
        }
        #expect(rows.prefix(3).map { value("apns-collapse-id", of: $0) } == ["7", "own", nil])
        #expect(rows[3].invalid?.hasSuffix("rows.csv:5:1: collapse_id: expected at most 64 bytes, found 65") == true)
        #expect(
            rows[4].invalid?.hasSuffix(
                "rows.csv:6:1: collapse_id: expected no control characters, found \"\\u0007\" at byte 1") == true)
    }

    @Test("An expiration is a time or counts from the start, and a row's own takes precedence")
    func expiration() throws {
        let before = SystemClock.seconds()
        let rows = try preview(
            "token,text,expiration\n\(token(1)),a,\n\(token(2)),a,2100-01-01T00:00:00Z\n\(token(3)),a,0\n\(token(4)),a,soon\n"
        ) {
            $0.template = Self.template
            $0.headers.expiration = .after(.seconds(3600))
        }
        let first = try #require(value("apns-expiration", of: rows[0]).flatMap { UInt64($0) })
        #expect(before + 3600...SystemClock.seconds() + 3600 ~= first)
        #expect(value("apns-expiration", of: rows[1]) == "4102444800")
        #expect(value("apns-expiration", of: rows[2]) == "0")
        #expect(
            rows[3].invalid?.hasSuffix(
                """
                rows.csv:5:68: expiration: expected seconds since 1970, 0, a time such as 2026-01-01T08:00:00Z or a \
                duration such as 2h, found "soon"
                """) == true)
    }

    @Test("A row may have its own apns-id, which the results show")
    func messageID() async throws {
        let stage = try Stage()
        let own = "123e4567-e89b-12d3-a456-426614174000"
        let upper = "123E4567-E89B-12D3-A456-426614174ABC"
        var campaign = try stage.campaign(
            rows: "token,text,apns_id\n\(token(1)),a,\(own)\n\(token(2)),a,\n\(token(3)),a,no\n\(token(4)),a,\(upper)\n"
        )
        campaign.template = Self.template
        let run = try CampaignRun(campaign)
        #expect(try await run.send().accepted == 3)
        let results = try stage.results(run)
        #expect(results[1]?[6] == own)
        #expect(results[2]?[6].count == 36 && results[2]?[6] != own)
        #expect(results[3]?[2] == "invalid" && results[3]?.suffix(3) == ["", "0", ""])
        #expect(results[4]?[6] == upper.lowercased())
    }

    @Test("A row's locale selects its template")
    func locales() throws {
        func template(_ text: String) -> Campaign.Template {
            .init(json: Array(#"{"aps":{"alert":"\#(text) {{text}}"}}"#.utf8), name: "\(text).json")
        }
        let rows = try preview(
            "token,text,locale\n\(token(1)),a,zh-Hant-TW\n\(token(2)),b,en_GB\n\(token(3)),c,\n\(token(4)),d,fr\n"
        ) {
            $0.templates = .init(
                by: .locale, ["en": template("Hello"), "zh-Hant": template("你好")], fallback: "en")
        }
        #expect(
            rows.map { String(decoding: $0.payload, as: UTF8.self) } == [
                #"{"aps":{"alert":"你好 a"}}"#, #"{"aps":{"alert":"Hello b"}}"#, #"{"aps":{"alert":"Hello c"}}"#,
                #"{"aps":{"alert":"Hello d"}}"#,
            ])
    }

    @Test("A variant without a template makes the row invalid, unless there is a fallback")
    func variants() throws {
        let rows = "token,text,variant\n\(token(1)),a,A\n\(token(2)),b,C\n\(token(3)),b,\n"
        let templates = ["A": Self.template, "B": Self.template]
        let strict = try preview(rows) { $0.templates = .init(by: .variant, templates, fallback: nil) }
        #expect(strict[0].invalid == nil)
        #expect(strict[1].invalid?.hasSuffix("rows.csv:3:68: variant: expected one of A, B, found \"C\"") == true)
        #expect(strict[2].invalid?.hasSuffix("rows.csv:4:68: variant: expected one of A, B, found nothing") == true)
        let lenient = try preview(rows) { $0.templates = .init(by: .variant, templates, fallback: "B") }
        #expect(lenient.allSatisfy { $0.invalid == nil })
    }

    @Test(
        "Templates that cannot be selected are an error before anything is sent",
        arguments: [
            (Campaign.Templates(by: .locale, ["en": template], fallback: nil), "templates by locale need a fallback"),
            (.init(by: .locale, ["en": template], fallback: "de"), "fallback: no template \"de\"; there are en"),
            (.init(by: .variant, ["en": template], fallback: nil), "templates by variant need a column \"variant\""),
            (.init(by: .locale, [:], fallback: nil), "templates: expected at least one, found none"),
        ])
    func badChoice(templates: Campaign.Templates, message: String) throws {
        let stage = try Stage()
        var campaign = try stage.campaign(rows: "token,text,locale\n\(token(1)),a,en\n")
        campaign.templates = templates
        do {
            _ = try CampaignPreview(campaign)
            Issue.record("no error")
        } catch {
            #expect(error.description.contains(message))
        }
    }
}
