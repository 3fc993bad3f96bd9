import APNSBatchBasics
import Testing

@testable import APNSBatchNotification

@Suite("Expiration of pushes")
struct GivenExpirationTests {
    @Test(
        "An expiration is given in seconds since 1970, as a time, or as a duration",
        arguments: [
            ("0", .at(.once)), ("1767225600", .at(Expiration(seconds: 1_767_225_600))),
            ("2026-01-01T00:00:00Z", .at(Expiration(seconds: 1_767_225_600))),
            ("2026-01-01t02:00:00.25+02:00", .at(Expiration(seconds: 1_767_225_600))),
            ("2025-12-31T22:30:00-01:30", .at(Expiration(seconds: 1_767_225_600))),
            ("2024-02-29T12:00:00Z", .at(Expiration(seconds: 1_709_208_000))),
            ("1970-01-01T00:00:00Z", .at(.once)),
            // PostgreSQL, DuckDB, BigQuery, Snowflake, and extract(epoch …).
            ("2026-01-01 00:00:00+00", .at(Expiration(seconds: 1_767_225_600))),
            ("2026-01-01 05:30:00.455031+05:30", .at(Expiration(seconds: 1_767_225_600))),
            ("2025-12-31 18:29:45-05:30:15", .at(Expiration(seconds: 1_767_225_600))),
            ("2026-01-01 00:00:00.5 UTC", .at(Expiration(seconds: 1_767_225_600))),
            ("2026-01-01 00:00:00 utc", .at(Expiration(seconds: 1_767_225_600))),
            ("2025-12-31 16:00:00.000 -0800", .at(Expiration(seconds: 1_767_225_600))),
            ("2026-01-01 00:00:00Z", .at(Expiration(seconds: 1_767_225_600))),
            ("1767225600.455031", .at(Expiration(seconds: 1_767_225_600))),
            ("90s", .after(90)), ("30m", .after(1800)), ("2h", .after(7200)), ("7d", .after(604_800)),
        ] as [(String, GivenExpiration)])
    func good(text: String, rule: GivenExpiration) {
        #expect(withBytes(text) { GivenExpiration.parse($0) } == .success(rule))
    }

    @Test(
        "Any other form of expiration is refused",
        arguments: [
            ("", .expirationNotANumber), ("h", .expirationNotANumber), ("0h", .expirationNotANumber),
            ("-2h", .expirationNotANumber), ("1.5h", .expirationNotANumber), ("2 h", .expirationNotANumber),
            ("tomorrow", .expirationNotANumber), ("2026-01-01", .expirationNotANumber),
            ("2026-02-29T00:00:00Z", .expirationNotANumber), ("2026-13-01T00:00:00Z", .expirationNotANumber),
            ("2026-01-01T24:00:00Z", .expirationNotANumber), ("2026-01-01T00:00:00", .expirationWithoutZone),
            ("2026-01-01 00:00:00", .expirationWithoutZone), ("2026-01-01 00:00:00.25", .expirationWithoutZone),
            ("2026-01-01 24:00:00+00", .expirationNotANumber), ("2026-01-01 00:00:00 CET", .expirationNotANumber),
            ("2026-01-01 00:00:00 ", .expirationNotANumber), ("2026-01-01 00:00:00+", .expirationNotANumber),
            ("2026-01-01 00:00:00+24", .expirationNotANumber), ("2026-01-01 00:00:00+00:60", .expirationNotANumber),
            ("2026-01-01 00:00:00+00:00:00:00", .expirationNotANumber),
            ("2026-01-01  00:00:00+00", .expirationNotANumber),
            ("2026-01-01 00:00:00 UTCx", .expirationNotANumber), ("infinity", .expirationNotANumber),
            ("1.5", .expirationNotANumber), ("1767225600.", .expirationNotANumber),
            ("1767225600.5.5", .expirationNotANumber), ("1767225600455.5", .expirationTooLate),

            ("2026-01-01T00:00:00Zz", .expirationNotANumber), ("2026-01-01T00:00:00.Z", .expirationNotANumber),
            ("2200-01-01T00:00:00Z", .expirationTooLate), ("1969-12-31T23:59:59Z", .expirationTooLate),
            ("366d", .expirationTooLong), ("99999999999999999d", .expirationTooLong),
        ] as [(String, FieldFault)])
    func bad(text: String, fault: FieldFault) {
        #expect(withBytes(text) { GivenExpiration.parse($0) } == .failure(fault))
    }

    @Test("A duration counts from the start of the campaign, and 0 stays 0")
    func start() {
        #expect(GivenExpiration.after(60).expiration(start: 1000) == Expiration(seconds: 1060))
        #expect(GivenExpiration.at(.once).expiration(start: 1000) == .once)
        #expect(GivenExpiration.after(60).expiration(start: UInt64(UInt32.max)) == Expiration(seconds: .max))
    }

    @Test(
        "The apns-id of a row is a UUID in either case and is written in lower case",
        arguments: [
            ("123e4567-e89b-12d3-a456-426614174000", true), ("123E4567-E89B-12D3-A456-42661417400F", true),
            ("123e4567e89b12d3a456426614174000", false), ("123e4567-e89b-12d3-a456-42661417400", false),
            ("123e4567-e89b-12d3-a456-4266141740000", false), ("123e4567-e89b-12d3-a456_426614174000", false),
            ("g23e4567-e89b-12d3-a456-426614174000", false), ("", false),
        ])
    func messageID(text: String, isGood: Bool) {
        var written = [UInt8](repeating: 0, count: MessageID.length)
        let fault = written.withUnsafeMutableBytes { room in
            withBytes(text) { MessageID.write($0, to: room.baseAddress!) }
        }
        #expect(fault == (isGood ? nil : .messageID))
        if isGood { #expect(String(decoding: written, as: UTF8.self) == text.lowercased()) }
    }

    @Test(
        "A time in seconds is written in the form in which it is read",
        arguments: [
            "1970-01-01T00:00:00Z", "1999-12-31T23:59:59Z", "2000-02-29T12:00:01Z", "2026-11-22T10:23:45Z",
            "2100-03-01T00:00:00Z", "2106-02-07T06:28:15Z",
        ])
    func timestamps(text: String) throws {
        #expect(Timestamp.text(try #require(withBytes(text) { Timestamp.parse($0) })) == text)
    }
}
