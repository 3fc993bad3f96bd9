import APNSBatchBasics
import Foundation
import Testing

@testable import APNSBatch
@testable import APNSBatchModel

@Suite("Duplicate tokens") struct TokenRegisterTests {
    /// Returns a hash that is distributed as well as that of a token.
    private static func hash(_ number: UInt64) -> UInt64 {
        var random = SplitMix64(seed: number)
        return random.next()
    }

    private static func hash(_ token: String) -> UInt64 {
        Array(token.utf8).withUnsafeBytes { TokenRegister.hash($0) }
    }

    /// Notes rows in order. The second number of each determines its token.
    private static func note(_ rows: [(UInt64, token: UInt64)], bits: Int) -> (found: [UInt64?], DuplicateTokens?) {
        var register = TokenRegister(bits: bits)
        let found = rows.map { register.note(hash($0.token), row: $0.0) }
        return (found, register.duplicates)
    }

    @Test("Duplicate tokens are reported with both rows, in either order, and counted")
    func exact() {
        let (found, duplicates) = Self.note(
            [(17, 17), (3, 3), (5, 5), (1042, 17), (2, 5), (9, 5), (10, 3)], bits: 8)
        #expect(found == [nil, nil, nil, 17, 5, 2, 3])
        #expect(duplicates == DuplicateTokens(rows: 4, sampledOneIn: 1, examples: [[17, 1042], [2, 5], [2, 9]]))
        #expect(Self.note([(1, 1), (2, 2)], bits: 8).1 == nil)
    }

    @Test("Counts are exact up to the limit, and one more token starts sampling")
    func limit() {
        let limit = UInt64(TokenRegister.exactLimit(bits: 8))
        let once = (1..<limit).map { ($0, token: $0) }
        let twice = once + (1..<limit).map { ($0 + 1000, token: $0) }
        let (found, duplicates) = Self.note(twice, bits: 8)
        #expect(found.compactMap { $0 } == Array(1..<limit))
        #expect(duplicates?.isEstimate == false && duplicates?.rows == limit - 1)
        let sampled = Self.note(twice + [(limit, token: limit)], bits: 8).1
        #expect(sampled?.sampledOneIn == 2)
    }

    @Test("Beyond the limit counts are estimated, and only real duplicates are reported")
    func sampled() throws {
        // One fifth of the 100,000 tokens occurs twice, with a large distance between.
        let once = (UInt64(1)...100_000).map { ($0, token: $0) }
        let again = (UInt64(1)...20_000).map { (100_000 + $0, token: $0 * 5) }
        let (rows, duplicates) = Self.note(once + again, bits: 12)
        for (row, first) in rows.enumerated().dropFirst(100_000) {
            if let first { #expect(first == UInt64(row - 100_000 + 1) * 5) }
        }
        let found = try #require(duplicates)
        #expect(found.isEstimate && found.sampledOneIn == 64)
        #expect((16_000...24_000).contains(found.rows), "\(found.rows)")
        #expect(found.examples.count == 3 && found.examples.allSatisfy { ($0[1] - 100_000) * 5 == $0[0] })
    }

    @Test("Different tokens are never reported as duplicates, however similar")
    func different() {
        var register = TokenRegister(bits: TokenRegister.bitsOfCheck)
        let tail = String(repeating: "a", count: 40)
        for row in UInt64(1)...100_000 {
            let digits = String(row, radix: 16)
            let number = String(repeating: "0", count: 12 - digits.count) + digits
            register.note(Self.hash(number + number + tail), row: row)
            register.note(Self.hash(tail + number + number), row: row)
            register.note(Self.hash(String(repeating: "0", count: 52) + number), row: row)
        }
        let found = register.duplicates
        #expect(found == nil)
    }

    @Test("Every digit of a token counts", arguments: 0..<64)
    func digits(place: Int) {
        var digits = Array(repeating: UInt8(ascii: "0"), count: 64)
        let zero = digits.withUnsafeBytes { TokenRegister.hash($0) }
        digits[place] = UInt8(ascii: "1")
        #expect(digits.withUnsafeBytes { TokenRegister.hash($0) } != zero)
    }

    @Test("Unsent rows are ignored, and tokens of other sizes are counted")
    func batch() {
        let batch = OutcomeBatch()
        func add(_ row: UInt64, _ token: String, isHex: Bool = true) {
            Array(token.utf8).withUnsafeBytes {
                batch.append(
                    row: row, outcome: isHex ? .accepted : .invalid, code: 200, attempts: 1, timestamp: 0, token: $0,
                    isHex: isHex, reason: UnsafeRawBufferPointer(start: nil, count: 0))
            }
        }
        add(1, token(7))
        add(2, token(7), isHex: false)
        add(3, "12345678")
        add(4, token(7))
        add(5, "12345678")
        var register = TokenRegister(bits: 8)
        register.note(batch)
        let (duplicates, unusual) = (register.duplicates, register.unusualTokens)
        #expect(duplicates == DuplicateTokens(rows: 2, sampledOneIn: 1, examples: [[1, 4], [3, 5]]))
        #expect(unusual == UnusualTokens(rows: 2, examples: [3, 5]))
    }

    @Test("Duplicates are described in sentences")
    func sentences() {
        #expect(
            DuplicateTokens(rows: 1, sampledOneIn: 1, examples: [[17, 1042]]).description
                == "a row has the token of another row: rows 17 and 1042")
        #expect(
            DuplicateTokens(rows: 12_800, sampledOneIn: 64, examples: [[1, 2], [3, 4], [5, 6]]).description
                == "about 12800 rows have the token of another row (an estimate from one token in 64): rows 1 and 2, 3 and 4, "
                + "5 and 6, …")
        #expect(
            UnusualTokens(rows: 4, examples: [1, 2, 3]).description
                == "4 tokens have a size other than 32 bytes: rows 1, 2, 3, …")
    }

    @Test("A run reports duplicates in its summary and still sends them")
    func run() async throws {
        let stage = try Stage()
        var campaign = try stage.campaign(
            rows: "token,text\n\(token(1)),a\n\(token(2)),a\n\(token(1).uppercased()),b\n00ff,a\nxyz,a\nxyz,a\n")
        campaign.template = .init(json: Array(#"{"aps":{"alert":"{{text}}"}}"#.utf8), name: "t.json")
        let summary = try await CampaignRun(campaign).send()
        #expect(summary.accepted == 4 && summary.invalid == 2)
        #expect(summary.lastSession.duplicateTokens == DuplicateTokens(rows: 1, sampledOneIn: 1, examples: [[1, 3]]))
        #expect(summary.lastSession.unusualTokens == UnusualTokens(rows: 1, examples: [4]))
    }

    @Test("A check reports a duplicate at the later row, with the earlier row", arguments: [1, 2])
    func check(threads: Int) async throws {
        let stage = try Stage()
        var campaign = try stage.campaign(
            rows: "token,text\n\(token(1)),a\n\(token(2)),a\n\(token(1).uppercased()),b\nxyz,a\nxyz,a\n")
        campaign.template = .init(json: Array(#"{"aps":{"alert":"{{text}}"}}"#.utf8), name: "t.json")
        campaign.headers.expiration = .after(.seconds(60))
        campaign.lanes = threads
        let report = try await CampaignCheck(campaign).run()
        let group = try #require(report.groups.first { $0.rule == "duplicate-token" })
        #expect(group.severity == .warning && group.count == 1 && group.examples.map(\.row) == [3])
        #expect(group.examples[0].text.hasSuffix("rows.csv:4:1: token: row 1 has the same token"))
        #expect(report.rows == 5 && report.rowsWithErrors == 2 && report.rowsWithWarnings == 1)
        #expect(report.duplicateTokens == DuplicateTokens(rows: 1, sampledOneIn: 1, examples: [[1, 3]]))
    }
}
