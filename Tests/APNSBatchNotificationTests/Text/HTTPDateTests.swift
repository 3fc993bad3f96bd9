import APNSBatchBasics
import APNSBatchNotification
import Testing

@Suite("Date header of answers")
struct HTTPDateTests {
    @Test(
        "The date of an answer is read in the current HTTP form",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Sat, 21 Nov 2026 13:00:00 GMT", 1_795_266_000), ("Tue, 29 Feb 2028 23:59:59 GMT", 1_835_481_599),
        ] as [(String, Int64)])
    func dates(text: String, seconds: Int64) {
        #expect(HTTPDate.parse(text) == seconds)
    }

    @Test(
        "Any other form of date is refused",
        arguments: [
            "", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET", "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994", "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 25:49:37 GMT",
        ])
    func noDates(text: String) {
        #expect(HTTPDate.parse(text) == nil)
    }
}
