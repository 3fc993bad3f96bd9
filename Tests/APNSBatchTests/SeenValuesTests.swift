import Testing

@testable import APNSBatchModel
@testable import APNSBatchSending

@Suite("Combinations of header columns") struct SeenValuesTests {
    private static func with<R>(
        _ texts: (String, String, String), _ body: (SeenValues.Values) -> R
    ) -> R {
        Array(texts.0.utf8).withUnsafeBytes { first in
            Array(texts.1.utf8).withUnsafeBytes { second in
                Array(texts.2.utf8).withUnsafeBytes { body((first, second, $0)) }
            }
        }
    }

    @Test("Values that are equal only when joined are distinguished")
    func joined() {
        var keys = SeenValues(limit: 8)
        let all = [("ab", "c", ""), ("a", "bc", ""), ("", "abc", ""), ("abc", "", ""), ("", "", "abc"), ("", "", "")]
        for texts in all { Self.with(texts) { keys.add($0) } }
        #expect(all.map { Self.with($0) { keys.find($0) } } == [0, 1, 2, 3, 4, 5])
        #expect(Self.with(("a", "b", "c")) { keys.find($0) } == nil)
    }

    @Test("Values up to the capacity are found again, and one more is refused")
    func full() {
        var keys = SeenValues(limit: 4096)
        for number in 0..<4096 {
            #expect(!keys.isFull)
            Self.with(("com.example.app\(number)", "alert", "")) { keys.add($0) }
        }
        #expect(keys.isFull && keys.count == 4096)
        for number in 0..<4096 {
            #expect(Self.with(("com.example.app\(number)", "alert", "")) { keys.find($0) } == number)
        }
        #expect(Self.with(("com.example.app4096", "alert", "")) { keys.find($0) } == nil)
    }
}
