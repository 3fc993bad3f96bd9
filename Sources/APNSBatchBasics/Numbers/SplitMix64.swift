/// A random number generator for purposes other than security (Steele, Lea, Flood: "Fast splittable pseudorandom number
/// generators", 2014).
package struct SplitMix64: Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        defer { state &+= 0x9E37_79B9_7F4A_7C15 }
        return Self.mix(state)
    }

    /// Returns a random number in [0, 1).
    package mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// Maps 64 bits to 64 bits bijectively: every bit of the input changes every bit of the output with a probability
    /// of one half.
    @inlinable @inline(__always)
    package static func mix(_ value: UInt64) -> UInt64 {
        var mixed = value &+ 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
