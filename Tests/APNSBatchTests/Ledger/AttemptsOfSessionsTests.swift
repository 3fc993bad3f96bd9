import APNSBatchSimulator
import Foundation
import Testing

@testable import APNSBatch
@testable import APNSBatchModel
@testable import APNSBatchRecords

@Suite("Attempts of earlier sessions") struct AttemptsOfSessionsTests {
    private typealias Sample = LedgerSample

    private static let rows = 100

    private static func campaign(_ stage: Stage) throws -> StagedCampaign {
        let payload = #""{""aps"":{""alert"":""Hi""}}""#
        var campaign = try stage.campaign(
            rows: "token,payload\n" + (0..<rows).map { "\(token($0)),\(payload)\n" }.joined())
        campaign.lanes = 1
        return campaign
    }

    @Test(.timeLimit(.minutes(5)), arguments: [2, 4])
    func `requests that were refused are counted by the next session`(limit: Int) async throws {
        let rule = SimulatorRule(share: 0.3, status: 429, reason: "TooManyRequests", times: 3)
        let script = SimulatorScript(seed: 5, rules: [rule])
        let stage = try Stage(script: script)
        let refused = (0..<Self.rows).count { script.answer(forToken: token($0)) != nil }
        var campaign = try Self.campaign(stage)
        // Rows are put off for so long that none is sent once more.
        campaign.retryDelay = .seconds(3600)
        let first = try CampaignRun(campaign)
        async let interrupted = first.send()
        await eventually { first.progress.retrying == refused && first.progress.accepted == Self.rows - refused }
        first.stop()
        #expect(try await interrupted.ending == .interrupted)
        campaign.retryDelay = .milliseconds(1)
        campaign.attempts = limit
        let run = try CampaignRun(campaign, resuming: true)
        let summary = try await run.send()
        #expect(summary.ending == .complete)
        // The limit holds for both sessions together.
        let requests = UInt64(Self.rows - refused + limit * refused)
        #expect(stage.simulator.stop().requests == requests)
        #expect(summary.attempts == requests && summary.allSessions.requests == requests)
        let lines = try stage.results(run).values.filter { script.answer(forToken: token(Int($0[0])! - 1)) != nil }
        #expect(lines.count == refused && lines.allSatisfy { $0[7] == "\(limit)" })
        #expect(lines.allSatisfy { $0[2] == (limit == 4 ? "accepted" : "unavailable") })
    }

    @Test func `the ledger keeps them, and each session replaces those of the one before`() throws {
        let first = [RowAttempts(index: 1, attempts: 2, counted: 1), RowAttempts(index: 7, attempts: 3, counted: 3)]
        let bytes = Sample.ledger([
            { encoder, _ in encoder.add(Sample.header) }, { encoder, _ in encoder.add(Sample.session(1)) },
            { encoder, _ in encoder.add(Sample.range(1, rows: 10)) },
            { encoder, _ in encoder.addHanded(firstRow: 1, rows: 4) },
            { encoder, _ in encoder.addHanded(firstRow: 1, rows: 0, attempts: first[...]) },
            { encoder, _ in encoder.addEnd(isInputRead: false) }, { encoder, _ in encoder.add(Sample.session(2)) },
            { encoder, _ in encoder.add(Sample.range(1, rows: 10)) },
            { encoder, _ in
                encoder.addHanded(firstRow: 1, rows: 0, attempts: [RowAttempts(index: 7, attempts: 9, counted: 8)])
            },
            { encoder, _ in encoder.addEnd(isInputRead: false) },
        ]).bytes
        let range = try Sample.read(bytes).history.ranges[0]
        #expect(range.handed == 4)
        #expect((0..<10).map { range.attempts(of: $0) } == [0, 2, 0, 0, 0, 0, 0, 9, 0, 0])
        #expect((0..<10).map { range.counted(of: $0) } == [0, 1, 0, 0, 0, 0, 0, 8, 0, 0])
    }

    @Test func `those of a row that is reopened do not count toward the limit`() throws {
        let tried = [RowAttempts(index: 1, attempts: 2, counted: 2), RowAttempts(index: 2, attempts: 4, counted: 4)]
        let end = Sample.End(row: 2, outcome: .unavailable, status: 503, attempts: 5, reason: "ServiceUnavailable")
        let bytes = Sample.ledger([
            { encoder, _ in encoder.add(Sample.header) }, { encoder, _ in encoder.add(Sample.session(1)) },
            { encoder, _ in encoder.add(Sample.range(1, rows: 3)) },
            { encoder, _ in encoder.addHanded(firstRow: 1, rows: 0, attempts: tried[...]) },
            { encoder, _ in encoder.addEnd(isInputRead: true) }, { encoder, _ in encoder.add(Sample.session(2)) },
            { encoder, _ in encoder.add(Sample.range(1, rows: 3)) }, { encoder, _ in encoder.add(Sample.batch([end])) },
            { encoder, _ in encoder.addReopened(.unavailable) },
        ]).bytes
        let range = try Sample.read(bytes).history.ranges[0]
        #expect((0..<3).map { range.attempts(of: $0) } == [0, 5, 4])
        #expect((0..<3).map { range.counted(of: $0) } == [0, 0, 4])
    }

    @Test func `malformed ones are left out`() {
        var bytes: [UInt8] = []
        for (index, attempts, counted) in [(3, 1, 1), (3, 2, 2), (1, 3, 3), (99, 4, 4), (5, 6, 7)]
            as [(UInt32, UInt16, UInt16)]
        {
            withUnsafeBytes(of: index.littleEndian) { bytes += $0 }
            withUnsafeBytes(of: attempts.littleEndian) { bytes += $0 }
            withUnsafeBytes(of: counted.littleEndian) { bytes += $0 }
        }
        bytes += [1, 0, 0]
        let found = bytes.withUnsafeBytes { LedgerDecoder.attempts($0, rows: 10) }
        #expect(
            found == [RowAttempts(index: 3, attempts: 1, counted: 1), RowAttempts(index: 5, attempts: 6, counted: 7)])
    }
}
