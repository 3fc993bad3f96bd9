import Testing

@testable import APNSBatchRows

@Suite("UTF-8 check")
struct TextCheckTests {
    /// Returns the result of Swift's own decoder.
    private func isText(_ bytes: [UInt8]) -> Bool {
        !bytes.contains(0) && String(validating: bytes, as: UTF8.self) != nil
    }

    private func checked(_ bytes: [UInt8]) -> Bool {
        // The bytes beyond the end must not change the result.
        for slack in [UInt8(0), 0x80, 0xE2] {
            let padded = bytes + Array(repeating: slack, count: ByteBlock.slack)
            let fault = TextCheck.firstFault(padded.span, from: 0, to: bytes.count)
            if TextCheck.isText(padded, count: bytes.count) != (fault == nil) { return !isText(bytes) }
            if slack == 0xE2 { return fault == nil }
        }
        return false
    }

    @Test("Every sequence of two bytes is classified correctly, also at the end of a block")
    func pairs() {
        var misjudged: [[UInt8]] = []
        for first in UInt8.min...UInt8.max {
            for second in UInt8.min...UInt8.max {
                let bytes = [first, second]
                let expected = isText(bytes)
                if checked(bytes) != expected { misjudged.append(bytes) }
                guard first >= 0xC0, second >= 0x70 else { continue }
                let across = Array(repeating: 0x61, count: 63) + bytes + [0x61]
                if checked(across) != expected { misjudged.append(across) }
            }
        }
        #expect(misjudged.isEmpty)
    }

    @Test("Sequences of three and four bytes across the end of a block are classified correctly", arguments: 58..<66)
    func longer(start: Int) {
        let edges: [UInt8] = [0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xE0]
        var misjudged: [[UInt8]] = []
        for first in UInt8(0xE0)...UInt8.max {
            for second in edges {
                for last in [[0x7F, 0x80], [0x80, 0x41], [0x80, 0x80], [0xBF, 0xC2], [0xBF, 0xBF]] as [[UInt8]] {
                    let bytes = Array(repeating: 0x61, count: start) + [first, second] + last + [0x61]
                    if checked(bytes) != isText(bytes) { misjudged.append(bytes) }
                }
            }
        }
        #expect(misjudged.isEmpty)
    }

    @Test("Random sequences, valid and damaged, are classified correctly", arguments: 0..<400)
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let scalars: [String] = ["a", "b", "é", "\u{80}", "\u{7FF}", "\u{800}", "中", "\u{FFFF}", "\u{10000}", "🎉"]
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 0...120, using: &random) { bytes += scalars.randomElement(using: &random)!.utf8 }
        #expect(checked(bytes))
        guard !bytes.isEmpty else { return }
        bytes[.random(in: bytes.indices, using: &random)] = .random(in: 0...255, using: &random)
        #expect(checked(bytes) == isText(bytes))
        bytes.removeLast(.random(in: 0...3, using: &random) % bytes.count)
        #expect(checked(bytes) == isText(bytes))
    }
}
