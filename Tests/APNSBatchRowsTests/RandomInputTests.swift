import Testing

@testable import APNSBatchRows

@Suite("Random inputs")
struct RandomInputTests {
    /// The pieces from which inputs are composed. Pieces that often cause errors occur more than once.
    private static let pieces: [[UInt8]] = [
        "a", "bc", "defghij", "0123456789012345678901234567890123456789", ",", ",", ",", "\"", "\"", "\"\"", ",\"",
        "\",", "\"\n", "\"\r\n", "\n", "\n", "\r\n", "\r", "\n\n", "é", "ß", "中文", "🎉", "\u{FFFF}",
    ].map { Array($0.utf8) }

    private static let rare: [[UInt8]] = [
        [0], [0xFF], [0x80], [0xC0, 0xAF], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
        [0xE2, 0x82],
    ]

    static func input(seed: UInt64, length: Int) -> [UInt8] {
        var random = SeededGenerator(seed: seed)
        var bytes: [UInt8] = seed % 5 == 0 ? [0xEF, 0xBB, 0xBF] : []
        bytes += Array("one,\"two\"\n".utf8)
        // Some inputs are mostly well-formed, and others are mostly invalid.
        let wellFormed = Int(seed % 4)
        while bytes.count < length {
            if Int.random(in: 0..<4, using: &random) < wellFormed {
                bytes += goodRow(&random)
            } else if Int.random(in: 0..<40, using: &random) == 0 {
                bytes += rare.randomElement(using: &random)!
            } else {
                bytes += pieces.randomElement(using: &random)!
            }
        }
        return bytes
    }

    static func goodRow(_ random: inout SeededGenerator) -> [UInt8] {
        let fields = (0..<2).map { _ in
            let pieces = Int.random(in: 0..<4, using: &random)
            let text = (0..<pieces).flatMap { _ in Self.pieces.randomElement(using: &random)! }
            let isQuoted = text.contains { [10, 13, 34, 44].contains($0) } || Bool.random(using: &random)
            return isQuoted ? [34] + text.flatMap { $0 == 34 ? [34, 34] : [$0] } + [34] : text
        }
        return fields[0] + [44] + fields[1] + (Bool.random(using: &random) ? [10] : [13, 10])
    }

    @Test("Random inputs give the same rows as the reference, however they arrive", arguments: 0..<20)
    func agreesWithReference(batch: Int) {
        for seed in batch * 40..<(batch + 1) * 40 { expectAgreement(seed: seed) }
    }

    private func expectAgreement(seed: Int) {
        let input = Self.input(seed: UInt64(seed), length: 40 + seed % 700)
        var random = SeededGenerator(seed: ~UInt64(seed))
        for (field, record) in [(40, 60), (100, 400), (5, 9)] {
            let expected = ReferenceReader(fieldBytes: field, recordBytes: record).read(input)
            let chunk = Int.random(in: 1...500, using: &random)
            let pieces = (0..<20).map { _ in Int.random(in: 1...90, using: &random) } + [.max]
            let limits = RowLimits.small(chunk: chunk, field: field, record: record)
            let reading = Reading(source: ScriptedSource(input, pieces: pieces), limits: limits)
            #expect(reading == expected, "seed \(seed), limits \(limits), \(String(decoding: input, as: UTF8.self))")
        }
    }

    @Test("Random inputs give the same rows at every chunk size", arguments: 0..<20)
    func agreesAtEveryChunkSize(seed: Int) {
        let input = Self.input(seed: UInt64(1000 + seed), length: 300)
        let expected = ReferenceReader(fieldBytes: 25, recordBytes: 40).read(input)
        for chunk in 1...input.count {
            let reading = Reading(
                source: ScriptedSource(input), limits: .small(chunk: chunk, field: 25, record: 40))
            #expect(reading == expected, "chunk \(chunk), \(String(decoding: input, as: UTF8.self))")
        }
    }
}
