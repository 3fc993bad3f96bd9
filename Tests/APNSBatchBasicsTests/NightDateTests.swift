import APNSBatchBasics
import Foundation
import Testing

@Suite("The date of a night")
struct NightDateTests {
    /// Returns the date of the night at a time such as `2026-11-21T22:50:00Z`.
    private func night(_ time: String, _ beginning: String = "12:00", in zone: String = "Europe/Berlin") throws
        -> String
    {
        let instant = try #require(Array(time.utf8).withUnsafeBytes { Timestamp.parse($0) })
        return try night(instant, beginning, in: try #require(TimeZone(identifier: zone)))
    }

    private func night(_ instant: Int64, _ beginning: String, in zone: TimeZone) throws -> String {
        NightDate.text(at: instant, beginning: try #require(NightDate.timeOfDay(beginning))) {
            Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: TimeInterval($0))))
        }
    }

    @Test("A start before midnight and a restart after it are in one night")
    func midnight() throws {
        #expect(try night("2026-11-21T22:50:00Z") == "2026-11-21")
        #expect(try night("2026-11-21T23:20:00Z") == "2026-11-21")
        #expect(try night("2026-11-22T10:59:59Z") == "2026-11-21")
        #expect(try night("2026-11-22T11:00:00Z") == "2026-11-22")
    }

    @Test("A night that begins at midnight has the local date")
    func localDate() throws {
        #expect(try night("2026-11-21T22:59:59Z", "00:00") == "2026-11-21")
        #expect(try night("2026-11-21T23:00:00Z", "00:00") == "2026-11-22")
        #expect(try night("2026-11-21T10:00:00Z", "00:00", in: "Pacific/Kiritimati") == "2026-11-22")
        #expect(try night("2026-11-21T10:59:59Z", "00:00", in: "Pacific/Pago_Pago") == "2026-11-20")
    }

    @Test("The night whose clock is set forward, and the one whose clock is set back, keep their date")
    func clockChange() throws {
        for time in ["2026-03-28T11:00:00Z", "2026-03-29T00:59:59Z", "2026-03-29T01:00:00Z", "2026-03-29T09:59:59Z"] {
            #expect(try night(time) == "2026-03-28", "\(time)")
        }
        #expect(try night("2026-03-29T10:00:00Z") == "2026-03-29")
        for time in ["2026-10-24T10:00:00Z", "2026-10-25T00:59:59Z", "2026-10-25T01:00:00Z", "2026-10-25T10:59:59Z"] {
            #expect(try night(time) == "2026-10-24", "\(time)")
        }
        #expect(try night("2026-10-25T11:00:00Z") == "2026-10-25")
    }

    @Test("A beginning that the clock skips is later by the length of the gap")
    func gap() throws {
        // At 01:00 UTC, 02:00 becomes 03:00: 02:30 becomes 03:30.
        #expect(try night("2026-03-29T01:29:59Z", "02:30") == "2026-03-28")
        #expect(try night("2026-03-29T01:30:00Z", "02:30") == "2026-03-29")
    }

    @Test("A beginning that the clock repeats is the first of the two, and the date does not go back")
    func fold() throws {
        // At 01:00 UTC, 03:00 becomes 02:00: 02:30 is at 00:30 and at 01:30 UTC.
        #expect(try night("2026-10-25T00:29:59Z", "02:30") == "2026-10-24")
        #expect(try night("2026-10-25T00:30:00Z", "02:30") == "2026-10-25")
        #expect(try night("2026-10-25T01:15:00Z", "02:30") == "2026-10-25", "the clock shows 02:15")
        // In Havana, 01:00 becomes 00:00.
        #expect(try night("2026-11-01T04:30:00Z", "00:30", in: "America/Havana") == "2026-11-01")
        #expect(try night("2026-11-01T05:10:00Z", "00:30", in: "America/Havana") == "2026-11-01")
    }

    @Test("A clock that is set back over midnight does not name the night anew")
    func backOverMidnight() throws {
        // In Nuuk, 00:00 on 25 October became 23:00 on 24 October.
        let before = try night("2026-10-25T00:59:59Z", "00:00", in: "America/Nuuk")
        let dates = try stride(from: 0, to: 7200, by: 600).map { seconds in
            try night(
                try #require(Array("2026-10-25T00:30:00Z".utf8).withUnsafeBytes { Timestamp.parse($0) }) + seconds,
                "00:00", in: try #require(TimeZone(identifier: "America/Nuuk")))
        }
        #expect(dates == dates.sorted() && dates.contains(before))
    }

    @Test("A date that a zone left out is no night")
    func skippedDay() throws {
        // Samoa had no 30 December 2011.
        #expect(try night("2011-12-30T09:59:59Z", "00:00", in: "Pacific/Apia") == "2011-12-29")
        #expect(try night("2011-12-30T10:00:00Z", "00:00", in: "Pacific/Apia") == "2011-12-31")
    }

    /// Zones with changes at midnight, of half an hour, of two hours, and without any.
    private static let zones = [
        "Africa/Casablanca", "America/Havana", "America/Nuuk", "America/Santiago", "Antarctica/Troll", "Asia/Beirut",
        "Asia/Kolkata", "Australia/Lord_Howe", "Europe/Berlin", "Pacific/Chatham", "Pacific/Kiritimati",
    ]

    @Test("In no zone does the date go back, and each night has about a day", arguments: ["00:00", "02:30", "12:00"])
    func everyZone(beginning: String) throws {
        let start = try #require(Array("2026-01-01T00:00:00Z".utf8).withUnsafeBytes { Timestamp.parse($0) })
        for name in Self.zones {
            let zone = try #require(TimeZone(identifier: name))
            let dates = try stride(from: start, to: start + 366 * 86_400, by: 1800).map {
                try night($0, beginning, in: zone)
            }
            #expect(dates == dates.sorted(), "\(name)")
            let halves = Dictionary(grouping: dates) { $0 }.filter { $0.key != dates.first && $0.key != dates.last }
                .values.map(\.count)
            #expect(Set(dates).count >= 366 && halves.allSatisfy { 44...52 ~= $0 }, "\(name)")
        }
    }

    @Test(
        "Times of day",
        arguments: [
            ("00:00", 0), ("23:59", 86_340), ("09:30", 34_200), ("9:30", nil), ("24:00", nil), ("12:60", nil),
            ("12", nil),
            ("12:00:00", nil), ("+1:00", nil), ("", nil), ("12:0x", nil),
        ])
    func timeOfDay(text: String, seconds: Int64?) { #expect(NightDate.timeOfDay(text) == seconds) }
}
