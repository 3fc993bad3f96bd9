import APNSBatchBasics
import APNSBatchPlanning
import Foundation
import Testing

@testable import APNSBatch
@testable import APNSBatchModel

@Suite("Duplicate tokens of a check") struct CheckedDuplicatesTests {
    private static let template = Campaign.Template(
        json: Array(#"{"aps":{"alert":"{{text}}"}}"#.utf8), name: "t.json")

    private func campaign(_ stage: Stage, _ tokens: [String], threads: Int = 2) throws -> StagedCampaign {
        var campaign = try stage.campaign(rows: "text,token\n" + tokens.map { "a,\($0)\n" }.joined())
        campaign.template = Self.template
        campaign.headers.expiration = .after(.seconds(60))
        campaign.lanes = threads
        return campaign
    }

    private func check(
        _ campaign: StagedCampaign, findings: String? = nil, capacity: Int, disk: UInt64 = .max
    ) throws -> CampaignCheck {
        let sorter = DigestSorter(capacity: capacity) {
            let file = MemoryStorage()
            file.capacity = disk
            return file
        }
        return try CampaignCheck(
            campaign.campaign, input: campaign.input, findingsPath: findings, digests: SharedDigests(sorter))
    }

    @Test("They are counted exactly, however little memory there is", arguments: [1, 2, 4], [10, 1_000, 100_000])
    func exact(threads: Int, capacity: Int) async throws {
        let stage = try Stage()
        let keys = (0..<4_000).map { $0 * $0 % 3_001 }
        // Capitals do not make another token.
        let tokens = keys.enumerated().map { $0.offset % 2 == 0 ? token($0.element) : token($0.element).uppercased() }
        let path = stage.directory.appending(path: "findings.csv").path
        let report = try await check(
            campaign(stage, tokens, threads: threads), findings: path, capacity: capacity
        ).run()
        var first: [Int: Int] = [:]
        var pairs: [[UInt64]] = []
        for (index, key) in keys.enumerated() {
            if let first = first[key] {
                pairs.append([UInt64(first + 1), UInt64(index + 1)])
            } else {
                first[key] = index
            }
        }
        #expect(report.duplicateTokens?.rows == UInt64(pairs.count) && report.duplicateTokens?.isEstimate == false)
        #expect(report.duplicateTokens?.examples == Array(pairs.prefix(3)))
        #expect(
            report.rows == 4_000 && report.rowsWithWarnings == UInt64(pairs.count) && report.duplicatesFailure == nil)
        let group = try #require(report.groups.first { $0.rule == "duplicate-token" })
        #expect(group.count == UInt64(pairs.count))
        #expect(group.examples.map(\.row) == pairs.prefix(20).map { $0[1] })
        #expect(group.examples[0].message == "token: row \(pairs[0][0]) has the same token")
        #expect(group.examples.allSatisfy { $0.column == 3 && $0.line == ($0.row ?? 0) + 1 })
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").dropFirst()
        #expect(Set(lines.map { $0.split(separator: ",")[2] }) == Set(pairs.map { "\($0[1])" }))
    }

    @Test("A row that has another warning is counted once")
    func warned() async throws {
        let stage = try Stage()
        let report = try await CampaignCheck(campaign(stage, ["00ff", token(1), "00ff", token(1)])).run()
        #expect(report.duplicateTokens == DuplicateTokens(rows: 2, sampledOneIn: 1, examples: [[1, 3], [2, 4]]))
        #expect(report.rowsWithWarnings == 3)
    }

    @Test("A full disk does not hold up a check, which says that they were not counted")
    func full() async throws {
        let stage = try Stage()
        let report = try await check(campaign(stage, (0..<3_000).map { token($0) }), capacity: 10, disk: 100).run()
        #expect(report.rows == 3_000 && report.isClean && report.duplicateTokens == nil)
        #expect(report.duplicatesFailure == "\(StorageError("write", "memory", code: ENOSPC))")
    }

    @Test("Line and column of a token, and whether its row has a warning, go into a word")
    func places() {
        for (line, column, hasWarning) in [(1, 1, false), (1 << 39, 70, true), (7, (1 << 23) - 1, true)]
            as [(UInt64, Int, Bool)]
        {
            let place = TokenPlace(line: line, column: column, hasWarning: hasWarning)
            #expect(TokenPlace(word: place.word) == place)
        }
        #expect(TokenPlace(line: 1, column: 1 << 40, hasWarning: false).column == (1 << 23) - 1)
    }
}
