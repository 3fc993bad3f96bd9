import APNSBatchModel
import Testing

@testable import APNSBatchPostgres

/// Tests of rows in the text format of COPY.
@Suite struct CopyRowsTests {
    private struct Sample {
        var row: UInt64 = 7
        var outcome = Outcome.accepted
        var code: UInt16 = 200
        var attempts: Attempts = 1
        var timestamp = OutcomeEntry.noTimestamp
        var token = "ab"
        var reason = ""
        var ownID: String?
        var carried: [String] = []
    }

    private func lines(_ sample: Sample, carried: Int = 0, tokens: TokenForm = .whole) throws -> String {
        let batch = OutcomeBatch()
        let token = Array(sample.token.utf8)
        let reason = Array(sample.reason.utf8)
        let ownID = sample.ownID.map { Array($0.utf8) }
        token.withUnsafeBytes { token in
            reason.withUnsafeBytes { reason in
                (ownID ?? []).withUnsafeBytes { id in
                    batch.append(
                        row: sample.row, outcome: sample.outcome, code: sample.code, attempts: sample.attempts,
                        timestamp: sample.timestamp, token: token, reason: reason,
                        ownID: ownID == nil ? nil : id.baseAddress)
                }
            }
        }
        for text in sample.carried { Array(text.utf8).withUnsafeBytes { batch.carry(text: $0) } }
        var rows = CopyRows(campaign: (1, 2), carried: carried, tokens: tokens)
        try rows.append(batch)
        return String(decoding: rows.bytes, as: UTF8.self)
    }

    @Test func `fields that are empty in results csv are NULL`() throws {
        let id = "0b4f1f3c-7d6e-4a8f-9b1a-2c3d4e5f6071"
        #expect(try lines(Sample(ownID: id)) == "7\tab\taccepted\t200\t\\N\t\\N\t\(id)\t1\t\\N\n")
        let invalid = Sample(outcome: .invalid, code: 3, attempts: 0, token: "", reason: "bad")
        #expect(try lines(invalid) == "7\t\tinvalid\t\\N\tbad\t\\N\t\\N\t0\t\\N\n")
    }

    @Test func `a time beyond the year 9999 is none`() throws {
        let gone = Sample(outcome: .rejected, code: 410, timestamp: 1_700_000_000_123, reason: "Unregistered")
        #expect(try lines(gone).contains("\t410\tUnregistered\t1700000000123\t"))
        var late = gone
        late.timestamp = 253_402_300_800_000
        #expect(try lines(late).contains("\t410\tUnregistered\t\\N\t"))
    }

    @Test func `an id that is derived is written as a UUID`() throws {
        let fields = try lines(Sample()).split(separator: "\t")
        #expect(fields[6].count == 36 && fields[6].split(separator: "-").map(\.count) == [8, 4, 4, 4, 12])
    }

    @Test func `carried columns follow the unique id, and are empty and not NULL`() throws {
        let sample = Sample(carried: ["x", "", "unique"])
        #expect(try lines(sample, carried: 2).hasSuffix("\t1\tunique\tx\t\n"))
        #expect(try lines(Sample(), carried: 2).hasSuffix("\t1\t\\N\t\t\n"))
    }

    @Test func `a digest is that of the token`() throws {
        // FIPS 180-2, appendix B.1.
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        #expect(try lines(Sample(token: "abc"), tokens: .digest).hasPrefix("7\t\(digest)\taccepted\t"))
    }

    @Test(arguments: [
        ("plain", "plain"), (#"\N"#, #"\\N"#), (#"\."#, #"\\."#), ("a\tb\nc\rd", #"a\tb\nc\rd"#), ("ü😀", "ü😀"),
        ("a\0b", "a\u{FFFD}b"), ("e\u{301}\u{7F}", "e\u{301}\u{7F}"),
    ])
    func `text is escaped`(_ text: String, _ expected: String) {
        var rows = CopyRows(campaign: (1, 2))
        Array(text.utf8).withUnsafeBytes { rows.append(text: $0) }
        #expect(Array(String(decoding: rows.bytes, as: UTF8.self).utf8) == Array(expected.utf8))
    }

    @Test func `bytes that are not UTF-8 are replaced`() {
        var rows = CopyRows(campaign: (1, 2))
        ([0x61, 0xFF, 0x62] as [UInt8]).withUnsafeBytes { rows.append(text: $0) }
        #expect(String(decoding: rows.bytes, as: UTF8.self) == "a\u{FFFD}b")
    }
}
