import APNSBatchRows
import Foundation
import Testing

@testable import APNSBatch
@testable import APNSBatchModel
@testable import APNSBatchSending

/// `columns` and `only`.
@Suite("Columns with other names, and selected rows") struct ColumnsTests {
    private static let template = Campaign.Template(
        json: Array(#"{"aps":{"alert":"Hi {{name}}"},"id":"{{user}}"}"#.utf8), name: "t.json")

    private static func campaign(_ stage: Stage, _ rows: String, _ columns: [String: String]) throws -> StagedCampaign {
        var campaign = try stage.campaign(rows: rows)
        campaign.template = template
        campaign.headers.expiration = .after(.seconds(600))
        campaign.columns = columns
        campaign.lanes = 1
        return campaign
    }

    private func rendered(_ campaign: StagedCampaign) throws -> [String] {
        let preview = try CampaignPreview(campaign)
        var payloads: [String] = []
        while let row = try preview.next() {
            payloads.append(row.isLeftOut ? "left out" : row.invalid ?? String(decoding: row.payload, as: UTF8.self))
        }
        return payloads
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

    private static let csv =
        "Address,Full Name,User.UserId\n\(token(1)),Ada,7\n\(token(2)),\"Bo, \"\"B\"\"\",8\nx,Cy,9\n"
    private static let ndjson = """
        {"Address":"\(token(1))","User":{"UserId":7,"Names":["Ada"]}}
        {"User":{"Names":["Bo, \\"B\\"","x"],"UserId":"8"},"Address":"\(token(2))"}
        {"Address":"x","User":{"UserId":9,"Names":["Cy"]}}

        """

    @Test("Columns of CSV and paths of NDJSON are found under the campaign's names")
    func named() async throws {
        let stage = try Stage()
        let forms = [(Self.csv, "Full Name"), (Self.ndjson, "User.Names.0")]
        for (rows, name) in forms {
            var campaign = try Self.campaign(stage, rows, ["token": "Address", "name": name, "user": "User.UserId"])
            let payloads = try rendered(campaign)
            #expect(
                payloads[..<2] == [
                    #"{"aps":{"alert":"Hi Ada"},"id":"7"}"#, #"{"aps":{"alert":"Hi Bo, \"B\""},"id":"8"}"#,
                ])
            // The place is that of the field in the input.
            let isCSV = rows == Self.csv
            #expect(payloads[2].contains(isCSV ? "rows.csv:4:1: token: " : "rows.csv:3:13: token: "), "\(payloads[2])")
            campaign.resultColumns = ["user"]
            let run = try CampaignRun(campaign)
            #expect(try await run.send().accepted == 2)
            let results = try String(contentsOfFile: run.directory + "/results.csv", encoding: .utf8).split(
                separator: "\n")
            #expect(
                results[0].hasSuffix(",user")
                    && results.dropFirst().allSatisfy { $0.hasSuffix(",7") || $0.hasSuffix(",8") || $0.hasSuffix(",9") }
            )
            let report = try await CampaignCheck(campaign).run()
            #expect(report.campaign.isEmpty, "\(report.campaign)")
        }
    }

    @Test("Two names may be one column, and the input's own name stays")
    func shared() throws {
        let stage = try Stage()
        let rows = ["t,name\n\(token(1)),Ada\n", "{\"t\":\"\(token(1))\",\"name\":\"Ada\"}\n"]
        for rows in rows {
            var campaign = try Self.campaign(stage, rows, ["token": "t", "user": "name"])
            #expect(try rendered(campaign) == [#"{"aps":{"alert":"Hi Ada"},"id":"Ada"}"#])
            campaign.headers.collapseID = "{{t}}"
            #expect(try rendered(campaign).count == 1)
        }
    }

    @Test("A name that columns gives to another column is that column, and check says so")
    func hidden() async throws {
        let stage = try Stage()
        let rows = [
            "token,device,name,user\nx,\(token(1)),Ada,1\n",
            "{\"token\":\"x\",\"device\":\"\(token(1))\",\"name\":\"Ada\",\"user\":1}\n",
        ]
        for rows in rows {
            let campaign = try Self.campaign(stage, rows, ["token": "device"])
            #expect(try rendered(campaign) == [#"{"aps":{"alert":"Hi Ada"},"id":"1"}"#])
            let found = try await CampaignCheck(campaign).run().campaign
            #expect(found.map(\.rule) == ["unused-column"], "\(found)")
            #expect(found[0].message.hasPrefix("column \"token\": columns gives this name to another column"))
        }
        // Two columns may exchange their names.
        let swapped = try Self.campaign(
            stage, "name,token,user\n\(token(1)),Ada,1\n", ["token": "name", "name": "token"])
        #expect(try rendered(swapped) == [#"{"aps":{"alert":"Hi Ada"},"id":"1"}"#])
    }

    private static let faults: [(rows: String, columns: [String: String], error: String)] = [
        (
            csv, ["token": "Adress"],
            #"columns: rows.csv has no column "Adress", which is to be "token"; did you mean "Address"?"#
        ),
        (
            ndjson, ["token": "Address", "name": "User.names.0"],
            #"none of the first 3 rows has "User.names.0", which is to be "name"; did you mean "User.Names"?"#
        ),
        (csv, ["token": ""], "columns: token: expected the name of a column of the input, found an empty text"),
        (csv, ["": "a"], #"columns: expected a name before "a", found an empty text"#),
        (ndjson, ["token": "a..b"], #"columns: "a..b": expected a key before and behind each dot"#),
        (
            ndjson, ["token": "Address", "name": "User", "user": "User.UserId"],
            #""User.UserId" is within "User", which the campaign uses as a whole"#
        ),
        (ndjson, ["token": "1.2.3.4.5.6.7.8.9.10.11.12.13.14.15.16.17"], "expected at most 16 keys, found 17"),
    ]

    @Test("A column that is not there, or cannot be, is an error", arguments: faults.indices)
    func missing(_ index: Int) throws {
        let stage = try Stage()
        let (rows, columns, wanted) = Self.faults[index]
        let found = error(try Self.campaign(stage, rows, columns)).replacing(stage.directory.path + "/", with: "")
        #expect(found.contains(wanted), "\(found)")
    }

    @Test("A dot in a key is written with a backslash")
    func dots() throws {
        #expect(ColumnSource.path(#"a\.b.c\\.d\e.f\"#) == ["a.b", #"c\"#, #"d\e"#, #"f\"#])
        #expect(ColumnSource.text(["a.b", #"c\"#]) == #"a\.b.c\\"#)
        let stage = try Stage()
        let rows = "{\"a.b\":\"\(token(1))\",\"name\":\"Ada\",\"user\":1}\n"
        #expect(try rendered(try Self.campaign(stage, rows, ["token": #"a\.b"#])).count == 1)
    }

    @Test("A column that is encrypted is secret under each of its names")
    func secret() throws {
        let stage = try Stage()
        var campaign = try Self.campaign(stage, "token,public_key,a\n\(token(1)),k,s\n", ["name": "a", "user": "a"])
        campaign.encryption = .init(keys: ["id"])
        for name in ["a", "name", "user"] {
            campaign.resultColumns = [name]
            #expect(error(campaign).contains("is sent encrypted, and is never shown"), "\(name)")
        }
    }

    // MARK: Selection

    private static let mixed =
        "token,name,user,ChannelType,OptOut\n\(token(1)),Ada,1,APNS,NONE\nmail@example.com,,x,EMAIL,NONE\n"
        + "\(token(3)),Cy,3,APNS,ALL\n\(token(4)),Di,4,APNS_SANDBOX,\n\(token(5)),Ed\nnot a token,Flo,6,APNS,NONE\n"
        + "\(token(7)),Gus,7,apns,NONE\n"

    @Test("Rows that are not selected are suppressed before they are checked, and counted")
    func only() async throws {
        let stage = try Stage()
        var campaign = try Self.campaign(stage, Self.mixed, [:])
        campaign.only = ["ChannelType": ["APNS", "APNS_SANDBOX"], "OptOut": ["NONE", ""]]
        campaign.expectations = [
            try CampaignExpectation("accepted >= 50%"), try CampaignExpectation("suppressed == 3"),
        ]
        let run = try CampaignRun(campaign)
        let summary = try await run.send()
        #expect(summary.rows == 7 && summary.accepted == 2 && summary.suppressed == 3 && summary.invalid == 2)
        #expect(
            summary.attempts == 2 && summary.expectations.prefix(2).allSatisfy { $0.holds == true },
            "\(summary.expectations)")
        let results = try stage.results(run)
        #expect(
            (1...7).map { results[$0]?[2] ?? "" } == [
                "accepted", "suppressed", "suppressed", "accepted", "invalid", "invalid", "suppressed",
            ])
        for row in [2, 3, 7] as [UInt64] {
            #expect(results[row]?[4] == "NotSelected" && results[row]?[7] == "0")
        }
        let report = try await CampaignCheck(campaign).run()
        #expect(report.rows == 7 && report.rowsNotSelected == 3 && report.rowsWithErrors == 2, "\(report)")
        #expect(report.campaign.filter { $0.rule == "unused-column" }.isEmpty, "\(report.campaign)")
        #expect(try rendered(campaign).filter { $0 == "left out" }.count == 3)
    }

    @Test("A resumed run has the same selection")
    func resumed() async throws {
        let stage = try Stage()
        var campaign = try Self.campaign(stage, Self.mixed, [:])
        campaign.only = ["ChannelType": ["APNS"]]
        try FileManager.default.createDirectory(atPath: campaign.runDirectory ?? "", withIntermediateDirectories: true)
        let files = MemoryFiles()
        #expect(try await CampaignRun(campaign, files: files).send().suppressed == 3)
        #expect(try await CampaignRun(campaign, resuming: true, files: files.copy()).send().suppressed == 3)
        for change in [{ $0.only = [:] }, { $0.columns = ["x": "name"] }] as [(inout StagedCampaign) -> Void] {
            var other = campaign
            change(&other)
            do throws(CampaignError) {
                _ = try CampaignRun(other, resuming: true, files: files.copy())
                Issue.record("it was resumed")
            } catch {
                #expect(
                    "\(error)".hasPrefix("recipients, delimiter, escape, columns or only: changed since the run began"))
            }
        }
    }

    @Test("Values of NDJSON are compared as they are written, and missing ones as empty")
    func values() throws {
        let stage = try Stage()
        let rows = ["true", "1", "1.0", "\"1\"", "null", "\"\"", "\"tr\\u0075e\"", "{\"a\": 1}"]
        let lines = rows.map { "{\"token\":\"\(token(1))\",\"name\":\"a\",\"user\":1,\"v\":\($0)}\n" }.joined()
        var campaign = try Self.campaign(stage, lines + "{\"token\":\"\(token(1))\",\"name\":\"a\",\"user\":1}\n", [:])
        campaign.inputFormat = .ndjson
        func selected(_ values: [String]) throws -> [Int] {
            campaign.only = ["v": values]
            return try rendered(campaign).enumerated().filter { $0.element != "left out" }.map { $0.offset + 1 }
        }
        #expect(try selected(["true"]) == [1, 7])
        #expect(try selected(["1"]) == [2, 4])
        #expect(try selected([""]) == [5, 6, 9])
        #expect(try selected(["{\"a\": 1}", "1.0"]) == [3, 8])
    }

    @Test("A selection that cannot be right is an error")
    func badSelection() throws {
        let stage = try Stage()
        var campaign = try Self.campaign(stage, Self.mixed, ["channel": "ChannelType"])
        campaign.only = ["Channeltype": ["APNS"]]
        #expect(
            error(campaign).hasSuffix(#"has no column "Channeltype"; did you mean "ChannelType"?"#),
            "\(error(campaign))")
        campaign.only = ["channel": []]
        #expect(error(campaign) == "only: channel: expected at least one value, found none")
        campaign.only = ["channel": ["APNS"]]
        #expect(error(campaign) == "none")
    }
}
