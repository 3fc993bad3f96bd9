import APNSBatchBasics
import APNSBatchSimulator
import Foundation
import Testing

@testable import APNSBatch
@testable import APNSBatchModel
@testable import APNSBatchPlanning
@testable import APNSBatchRecords
@testable import APNSBatchRows
@testable import APNSBatchSending

/// A run whose plan suppresses rows: to send it is to resume it.
@Suite("Runs with a plan") struct PlannedRunTests {
    /// Suppresses each third row.
    private struct EachThird: RowRule {
        func decide(_ row: Row) -> RowDecision { row.row % 3 == 0 ? .suppressed : .send }
        func key(of row: Row) -> (UInt64, UInt64)? { nil }
    }

    private static let limits = RowLimits(chunkBytes: 16_384, fieldBytes: 4_096, recordBytes: 8_192)

    private func rows(_ count: Int) -> String {
        let payload = #""{""aps"":{""alert"":""Hi""}}""#
        return "token,payload\n" + (0..<count).map { "\(token($0)),\(payload)\n" }.joined()
    }

    private func reader(_ campaign: StagedCampaign, _ input: RunInput) throws -> ChunkReader {
        try InputReader(campaign.campaign, input: input, lanes: 1, limits: Self.limits).reader
    }

    /// Writes the plan of a campaign, and the session of its suppressed rows.
    private func settle(_ campaign: StagedCampaign, _ header: LedgerHeader, in files: MemoryFiles) throws -> PlanFacts {
        let (input, storage) = (try RunInput(campaign.input), MemoryStorage())
        let planHeader = PlanHeader(
            identity: header.identity, time: header.start, inputBytes: header.inputBytes, columnsSum: header.columnsSum)
        let made = try PlanMaker(reader(campaign, input), threads: 2).make(planHeader, to: storage) { EachThird() }
        #expect(try PlanReader.prove(storage, made.seal) == made.facts)
        var sealed = header
        sealed.plan = made.seal
        let session = try PlannedSession(
            in: files.ledger, of: sealed,
            .planned(process: 42, time: header.start, boot: files.boot, policy: .report))
        let second = try reader(campaign, input)
        var settlement = PlanSettlement(second, cursor: second.makeCursor()) { row, batch in
            Array("Planned".utf8).withUnsafeBytes { reason in
                batch.append(
                    row: row.row, outcome: .suppressed, code: 0, attempts: 0, timestamp: OutcomeEntry.noTimestamp,
                    token: row.fields[0], reason: reason)
            }
        }
        try settlement.run(PlanReader(storage), into: session)
        return made.facts
    }

    @Test("A run does not go on before all suppressed rows have their outcomes")
    func open() async throws {
        let stage = try Stage()
        let campaign = try stage.campaign(rows: rows(10))
        var header = try CampaignRun(campaign, files: MemoryFiles()).session.facts.header
        header.plan = PlanSeal(bytes: 64, sum: 1)
        let files = MemoryFiles()
        _ = try PlannedSession(
            in: files.ledger, of: header, .planned(process: 42, time: header.start, boot: files.boot, policy: .report))
        let failed = #expect(throws: CampaignError.self) { _ = try CampaignRun(campaign, resuming: true, files: files) }
        #expect(failed?.code == .results && failed?.description.contains("plan") == true)
        #expect(stage.simulator.stop().requests == 0)
    }

    @Test("Only the rows are sent that the plan leaves, and each row has one line", arguments: [2, 3, 1_000])
    func sends(count: Int) async throws {
        let stage = try Stage()
        let campaign = try stage.campaign(rows: rows(count))
        var small = Surroundings()
        small.rowLimits = Self.limits
        let header = try CampaignRun(campaign, files: MemoryFiles(), surroundings: small).session.facts.header
        let files = MemoryFiles()
        try FileManager.default.createDirectory(
            atPath: try #require(campaign.runDirectory), withIntermediateDirectories: true)
        let facts = try settle(campaign, header, in: files)
        let run = try CampaignRun(campaign, resuming: true, files: files, surroundings: small)
        let summary = try await run.send()
        let suppressed = UInt64(count / 3)
        #expect(facts.suppressed == suppressed && facts.rows == UInt64(count))
        #expect(summary.ending == .complete && summary.rows == UInt64(count))
        #expect(summary.suppressed == suppressed && summary.accepted == UInt64(count) - suppressed)
        #expect(stage.simulator.stop().requests == count - Int(suppressed))
        let lines = files.resultLines
        #expect(lines.count == count)
        for (row, fields) in lines {
            #expect(fields[2] == (row % 3 == 0 ? "suppressed" : "accepted"), "row \(row)")
        }
        let history = try LedgerSample.read(files.ledger.bytes).history
        #expect(history.session?.number == 1 && history.isComplete)
    }
}
