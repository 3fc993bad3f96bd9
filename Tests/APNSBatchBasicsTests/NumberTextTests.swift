import APNSBatchBasics
import Testing

@Suite("Numbers of any size") struct NumberTextTests {
    @Test(
        "A number becomes the nearest whole one that there is",
        arguments: [
            (0.4, 0), (0.5, 1), (-1, 0), (-0.4, 0), (.nan, 0), (-.infinity, 0), (.infinity, .max),
            (1.8446744073709552e19, .max),
            (1e308, .max), (9_007_199_254_740_992, 9_007_199_254_740_992),
        ] as [(Double, UInt64)])
    func saturating(value: Double, whole: UInt64) { #expect(UInt64(saturating: value) == whole) }

    @Test("Any time has a text", arguments: [-1, .nan, .infinity, 1e308, 1.8e18] as [Double])
    func times(seconds: Double) { #expect(!ElapsedTime.text(seconds).isEmpty) }
}
