import CAPNSCommon
import Foundation
import Testing

@testable import APNSBatch
@testable import APNSBatchModel
@testable import APNSBatchRecords
@testable import APNSBatchSending

@Suite("Checksum of an input") struct InputChecksumTests {
    /// Computes CRC-32C as defined in RFC 3720, bit by bit.
    private static func plain(_ bytes: some Sequence<UInt8>) -> UInt32 {
        ~bytes.reduce(~0 as UInt32) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in sum >> 1 ^ (sum & 1 == 1 ? 0x82F6_3B78 : 0) }
        }
    }

    @Test("Two checksums are combined into that of both texts", arguments: [0, 1, 7, 64, 4095, 262_144, 1_000_003])
    func combine(length: Int) {
        let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
        let digits = Array("123456789".utf8)
        #expect(Self.plain(digits) == 0xE306_9283)
        let sum = apns_crc32c_combine(0xE306_9283, Self.plain(bytes), UInt64(length))
        #expect(sum == Self.plain(digits + bytes))
    }

    @Test("The checksum covers the whole input, whatever the ranges, each byte once")
    func wholeInput() {
        let bytes = (0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 5) }
        for places in [[], [10..<2000, 2000..<4000, 4500..<5000], [10..<5000], [0..<100, 100..<4999], [0..<5000]] {
            var checksum = InputChecksum()
            for place in places + places {
                checksum.add(offset: UInt64(place.lowerBound), bytes: place.count, sum: Self.plain(bytes[place]))
            }
            var read = 0
            let sum = checksum.value(bytes: 5000) { gap in
                read += gap.count
                return Self.plain(bytes[Int(gap.lowerBound)..<Int(gap.upperBound)])
            }
            #expect(sum == Self.plain(bytes) && read == 5000 - places.reduce(0) { $0 + $1.count }, "\(places)")
        }
        #expect(InputChecksum().value(bytes: 10) { _ in nil } == nil)
    }

    @Test(
        "The summary of a complete run has the checksum, also with a byte order mark and long rows")
    func run() async throws {
        let stage = try Stage()
        let long = String(repeating: "x", count: 600_000)
        let rows = "\u{FEFF}token,text\r\n\(token(1)),a\r\n\(token(2)),\(long)\r\n\n\(token(3)),c"
        var campaign = try stage.campaign(rows: rows)
        campaign.template = .init(json: Array(#"{"aps":{"alert":"{{text}}"}}"#.utf8), name: "t.json")
        let summary = try await CampaignRun(campaign).send()
        #expect(summary.accepted == 2 && summary.invalid == 1)
        let digits = String(Self.plain(rows.utf8), radix: 16)
        #expect(summary.campaign.inputCRC32C == String(repeating: "0", count: 8 - digits.count) + digits)
        #expect(summary.campaign.inputBytes == UInt64(rows.utf8.count))
    }
}
