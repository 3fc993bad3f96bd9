import APNSBatchNotification
import APNSBatchRows
import APNSBatchSimulator
import APNSBatchTransport
import Foundation
import Logging
import Testing

@testable import APNSBatch
@testable import APNSBatchModel
@testable import APNSBatchRecords
@testable import APNSBatchSending

@Suite("Additional result columns") struct ResultColumnsTests {
    private static let rows =
        "token,text,user_id,segment\n"
        + "\(token(1)),a,u-1,\"north, \"\"east\"\"\"\n\(token(2)),b,u-2,\nnot a token,c,u-3,x\n\(token(4)),d\n"
        + "\(token(5)),e,\(String(repeating: "é", count: 200)),y\n"

    private static let header =
        "row,token,outcome,status,reason,timestamp,apns_id,attempts,apns_unique_id,user_id,segment"

    private static func campaign(_ stage: Stage, rows: String = rows) throws -> StagedCampaign {
        var campaign = try stage.campaign(rows: rows)
        campaign.template = .init(json: Array(#"{"aps":{"alert":"{{text}}"}}"#.utf8), name: "t.json")
        campaign.resultColumns = ["user_id", "segment"]
        campaign.lanes = 1
        return campaign
    }

    /// Returns the carried fields of each line, by row, as they are written there.
    private static func carried(_ bytes: [UInt8]) throws -> [Int: String] {
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        try #require(lines.first.map(String.init) == header)
        return Dictionary(
            uniqueKeysWithValues: lines.dropFirst().map { line in
                let fields = fields(line)
                return (Int(fields[0]) ?? 0, fields[9...].joined(separator: ","))
            })
    }

    /// Returns the fields of a line with their quotes.
    private static func fields(_ line: Substring) -> [String] {
        var fields = [""]
        var isQuoted = false
        for character in line {
            if character == "\"" { isQuoted.toggle() }
            if character == ",", !isQuoted { fields.append("") } else { fields[fields.count - 1].append(character) }
        }
        return fields
    }

    @Test("Input columns are copied for each row, whatever its outcome, and survive a rewrite")
    func carries() async throws {
        let stage = try Stage()
        let campaign = try Self.campaign(stage)
        try FileManager.default.createDirectory(atPath: campaign.runDirectory ?? "", withIntermediateDirectories: true)
        let files = MemoryFiles()
        let summary = try await CampaignRun(campaign, files: files).send()
        #expect(summary.accepted == 3 && summary.invalid == 2)
        let expected = [
            1: "u-1,\"north, \"\"east\"\"\"", 2: "u-2,", 3: "u-3,x", 4: ",",
            5: String(repeating: "é", count: 127) + ",y",
        ]
        #expect(try Self.carried(files.lines.bytes) == expected)
        let again = files.copy()
        again.lines.bytes = []
        #expect(try await CampaignRun(campaign, resuming: true, files: again).send().ending == .complete)
        #expect(try Self.carried(again.lines.bytes) == expected)
        var other = campaign
        other.resultColumns = ["segment"]
        #expect(throws: CampaignError.self) { try CampaignRun(other, resuming: true, files: files.copy()) }
    }

    @Test("Rows that wait to be sent again keep their columns")
    func retried() async throws {
        let stage = try Stage(
            script: SimulatorScript(rules: [
                SimulatorRule(share: 1, status: 503, reason: "ServiceUnavailable", times: 1)
            ]))
        var campaign = try Self.campaign(
            stage,
            rows: "token,text,user_id,segment\n" + (1...300).map { "\(token($0)),a,u-\($0),s\n" }.joined())
        campaign.retryDelay = .milliseconds(1)
        let run = try CampaignRun(campaign)
        #expect(try await run.send().accepted == 300)
        let carried = try Self.carried(Array(Data(contentsOf: URL(filePath: run.directory + "/results.csv"))))
        #expect(carried.count == 300 && carried.allSatisfy { $0.value == "u-\($0.key),s" })
    }

    @Test(
        "Columns that cannot be copied are an error before anything is sent",
        arguments: [
            (["user_idd"], "result columns: rows.csv has no column \"user_idd\"; did you mean \"user_id\"?"),
            (["a-column"], "there are \"token\", \"text\", \"user_id\", \"segment\""),
            (["segment", "segment"], "\"segment\" is named twice"),
            (["token"], "results.csv has a column \"token\" of its own; rename the input's column"),
            (Array(repeating: "segment", count: 9), "expected at most 8 columns, found 9"),
        ])
    func bad(columns: [String], message: String) throws {
        let stage = try Stage()
        var campaign = try Self.campaign(stage)
        campaign.resultColumns = columns
        do {
            _ = try CampaignRun(campaign)
            Issue.record("no error")
        } catch {
            #expect(error.code == .configuration)
            #expect(error.description.replacing(stage.directory.path + "/", with: "").contains(message), "\(error)")
        }
    }

    @Test("An encrypted column is not copied")
    func secret() throws {
        func isSecret(_ column: Int) -> Bool { column == 1 }
        #expect(throws: CampaignError.self) {
            try ResultColumns(["b"], columns: ["a", "b"], file: "rows.csv", isSecret: isSecret)
        }
        #expect(try ResultColumns(["a"], columns: ["a", "b"], file: "rows.csv", isSecret: isSecret).indices == [0])
    }

    @Test("The sandbox's unique id of each accepted notification is in the results, also after a rewrite")
    func uniqueIDs() async throws {
        let stage = try Stage { $0.environment = .sandbox }
        let campaign = try Self.campaign(stage)
        try FileManager.default.createDirectory(atPath: campaign.runDirectory ?? "", withIntermediateDirectories: true)
        let files = MemoryFiles()
        #expect(try await CampaignRun(campaign, files: files).send().accepted == 3)
        for (row, fields) in files.resultLines {
            #expect((fields[8].utf8.count == 36) == (fields[2] == "accepted"), "\(row)")
            if fields[2] == "accepted" { #expect(fields[8] != fields[6]) }
        }
        let again = files.copy()
        again.lines.bytes = []
        #expect(try await CampaignRun(campaign, resuming: true, files: again).send().ending == .complete)
        #expect(again.resultLines == files.resultLines)
    }

    @Test("A 410 with timestamp 0 is shown as 0, and one without a timestamp as empty")
    func timestamps() async throws {
        let stage = try Stage(
            script: SimulatorScript(rules: [
                SimulatorRule(share: 0.5, status: 410, reason: "Unregistered", timestamp: 0),
                SimulatorRule(share: 0.5, status: 400, reason: "BadDeviceToken"),
            ]))
        var campaign = try Self.campaign(
            stage, rows: "token,text,user_id,segment\n" + (1...40).map { "\(token($0)),a,,\n" }.joined())
        campaign.resultColumns = []
        let run = try CampaignRun(campaign)
        _ = try await run.send()
        let results = try stage.results(run)
        #expect(results.values.contains { $0[3] == "410" } && results.values.contains { $0[3] == "400" })
        #expect(results.values.allSatisfy { $0[5] == ($0[3] == "410" ? "0" : "") })
    }

    @Test(
        "A row is sent with the apns-id in the results, whatever its number",
        arguments: [1, 65_536, 65_537, 1 << 32, 1 << 40 - 1])
    func messageIDs(row: UInt64) throws {
        let stage = try Stage()
        let campaign = try Self.campaign(stage, rows: "token,text,user_id,segment\n\(token(1)),a,b,c\n")
        let input = try InputReader(campaign.campaign, input: try RunInput(campaign.input), lanes: 1)
        let plan = try CampaignPlan(
            campaign.campaign, input: input.facts, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        var preparer = RowPreparer(plan: plan)
        var arena = SendArena(blocks: 1)
        var flights = FlightTable(capacity: 1)
        try input.reader.seek(to: RowPosition(row: row, line: 2, offset: 27))
        let chunk = try #require(try input.nextChunk())
        var cursor = input.makeCursor()
        cursor.open(chunk)
        var found = Row()
        let hasRow = cursor.next(into: &found)
        #expect(hasRow && found.row == row)
        guard case .ready(let place) = preparer.prepare(found, in: &arena, flights: &flights, now: 0) else {
            Issue.record("the row is not ready")
            return
        }
        let flight = flights[place]
        let sent = flight.record[.id]
        let batch = OutcomeBatch()
        batch.append(
            row: flight.row, outcome: .accepted, code: 200, attempts: 1, timestamp: OutcomeEntry.noTimestamp,
            token: flight.record.recipient, reason: UnsafeRawBufferPointer(start: nil, count: 0))
        var lines = ResultLines(campaign: plan.identity)
        lines.append(batch.entries[0], of: batch)
        let fields = String(decoding: lines.bytes, as: UTF8.self).split(
            separator: ",", omittingEmptySubsequences: false)
        #expect(fields[0] == String(row) && fields[6] == String(decoding: sent, as: UTF8.self))
        chunk.recycle()
    }
}
