/// Makes all random choices of a simulation except those of the network (SplitMix64).
struct Dice {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 ^ 0x5349_4D55_4C41_5445 }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }

    mutating func within(_ range: ClosedRange<Int>) -> Int {
        range.lowerBound + Int(next() % UInt64(range.upperBound - range.lowerBound + 1))
    }

    /// Returns true with this probability, in millionths.
    mutating func chance(_ millionths: Int) -> Bool { next() % 1_000_000 < UInt64(millionths) }

    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[within(0...elements.count - 1)] }

    /// Returns zero in most runs, and otherwise a share of up to `most` millionths. A kind of fault occurs only in some
    /// runs, so that each kind also occurs alone.
    mutating func share(upTo most: Int, inRuns: Int = 300_000) -> UInt32 {
        chance(inRuns) ? UInt32(within(1...most)) : 0
    }
}
