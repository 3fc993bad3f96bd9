import Testing

@testable import APNSBatchRows

@Suite("Block of 64 bytes")
struct ByteBlockTests {
    private func mask(_ bytes: [UInt8], where isSet: (UInt8) -> Bool) -> UInt64 {
        bytes.enumerated().reduce(0) { $0 | (isSet($1.element) ? 1 << UInt64($1.offset) : 0) }
    }

    private func randomBytes(_ random: inout SeededGenerator) -> [UInt8] {
        let dense: [UInt8] = [0x00, 0x01, 0x7F, 0x80, 0xFF, 0x22, 0x23, 0x21, 0x2C, 0x0A]
        return (0..<64).map { _ in
            Bool.random(using: &random) ? dense.randomElement(using: &random)! : .random(in: 0...255, using: &random)
        }
    }

    @Test("The masks of a block mark the matching bytes, in both implementations", arguments: 0..<50)
    func masks(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let bytes = randomBytes(&random)
        for value in Set(bytes) {
            #expect(ByteBlock(bytes).equal(to: value) == mask(bytes) { $0 == value })
            #expect(WordByteBlock(bytes).equal(to: value) == mask(bytes) { $0 == value })
        }
        for number in Int32(0)..<8 {
            #expect(ByteBlock(bytes).bit(number) == mask(bytes) { $0 >> number & 1 == 1 })
            #expect(WordByteBlock(bytes).bit(number) == mask(bytes) { $0 >> number & 1 == 1 })
        }
    }

    @Test("A block is plain unless a byte is NUL or not ASCII", arguments: 0..<64)
    func plain(at position: Int) {
        for value in UInt8.min...UInt8.max {
            var bytes = [UInt8](repeating: 0x7F, count: 64)
            bytes[position] = value
            #expect(ByteBlock(bytes).isPlain == (0x01...0x7F).contains(value))
            #expect(WordByteBlock(bytes).isPlain == (0x01...0x7F).contains(value))
        }
    }

    @Test("The running parity of a block's bits is correct", arguments: 0..<50)
    func parity(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let bits = random.next()
        for position in UInt64(0)..<64 {
            let upTo = bits & (position == 63 ? ~0 : 1 << (position + 1) - 1)
            #expect(runningParity(bits) >> position & 1 == UInt64(upTo.nonzeroBitCount & 1))
        }
    }
}
