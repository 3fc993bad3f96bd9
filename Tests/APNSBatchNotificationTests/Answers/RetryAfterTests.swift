import Testing

@testable import APNSBatchNotification

@Suite("Retry-After") struct RetryAfterTests {
    /// Sun, 06 Nov 1994 08:49:37 GMT, in seconds since the epoch.
    private static let now: Int64 = 784_111_777

    private func parse(_ text: String) -> UInt64? {
        Array(text.utf8).withUnsafeBytes { RetryAfter.parse($0, now: Self.now) }
    }

    @Test(
        "Retry-After is read as a number of seconds",
        arguments: [
            ("0", 0), ("30", 30), ("007", 7), ("999999999999", 999_999_999_999),
            (String(repeating: "9", count: 40), .max),
        ] as [(String, UInt64)])
    func seconds(text: String, expected: UInt64) {
        #expect(parse(text) == expected)
    }

    @Test(
        "Retry-After is read as a date in three forms, and a past date means now",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 0), ("Sun, 06 Nov 1994 08:50:07 GMT", 30),
            ("Mon, 07 Nov 1994 08:49:37 GMT", 86_400), ("Sun, 06 Nov 1994 08:00:00 GMT", 0),
            ("Sunday, 06-Nov-94 08:50:07 GMT", 30), ("Sunday, 06-Nov-05 08:49:37 GMT", 347_155_200),
            ("Sunday, 06-Nov-50 08:49:37 GMT", 0), ("Sun Nov  6 08:50:07 1994", 30),
            ("Wed Nov 16 08:49:37 1994", 864_000),
        ] as [(String, UInt64)])
    func dates(text: String, expected: UInt64) {
        #expect(parse(text) == expected)
    }

    @Test(
        "An invalid Retry-After is ignored",
        arguments: [
            "", " ", "-1", "1.5", "30 s", "soon", "Sun, 06 Nov 1994", "Sunday, 06-Nov-1994 08:49:37 GMT",
            "Sun Nov 31 08:49:37 1994", "Sunday, 6-Nov-94 08:49:37 GMT", "06 Nov 94 08:49:37",
            String(repeating: "x", count: 65),
        ])
    func nonsense(text: String) {
        #expect(parse(text) == nil)
    }
}
