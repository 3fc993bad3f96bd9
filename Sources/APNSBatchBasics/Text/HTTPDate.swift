/// Dates in HTTP header fields (RFC 9110, section 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
package enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]

    /// Returns the date in the preferred form.
    ///
    /// - Parameter seconds: Seconds since 1970-01-01 00:00 UTC, in the years 0 to 9999.
    package static func text(_ seconds: Int64) -> String {
        let time = CivilTime(seconds)
        let year = String(repeating: "0", count: max(0, 4 - "\(time.year)".utf8.count)) + "\(time.year)"
        let month = months[Int(time.month) - 1]
        return "\(weekdays[time.weekday]), \(time.two(time.day)) \(month) \(year) \(time.clock) GMT"
    }

    /// Reads the preferred form. Returns seconds since 1970-01-01 00:00 UTC, or nil for other texts. The day of the
    /// week is not checked.
    package static func parse(_ text: String) -> Int64? {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0].utf8.count == 4, parts[0].hasSuffix(","), parts[5] == "GMT" else { return nil }
        return seconds(day: parts[1], month: parts[2], year: parts[3], time: parts[4])
    }

    /// Reads the preferred form, and the two obsolete forms that recipients must accept:
    /// `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`.
    ///
    /// - Parameter now: The current time, in seconds since 1970-01-01 00:00 UTC. A year of two digits is never taken as
    ///   one that is more than fifty years in the future.
    package static func parseAnyForm(_ text: String, now: Int64) -> Int64? {
        if let today = parse(text) { return today }
        let parts = text.split(separator: " ", omittingEmptySubsequences: true)
        if parts.count == 4, parts[0].hasSuffix(","), parts[3] == "GMT" {
            let day = parts[1].split(separator: "-", omittingEmptySubsequences: false)
            guard day.count == 3, day[2].utf8.count == 2 else { return nil }
            return century(of: day, time: parts[2], now: now)
        }
        guard parts.count == 5, parts[0].utf8.count == 3 else { return nil }
        let day = parts[2].utf8.count == 1 ? "0" + parts[2] : parts[2]
        return seconds(day: day, month: parts[1], year: parts[4], time: parts[3])
    }

    private static func century(of day: [Substring], time: Substring, now: Int64) -> Int64? {
        let fiftyYears: Int64 = 50 * 365 * 86_400 + 12 * 86_400
        for century in ["20", "19"] {
            let date = seconds(day: day[0], month: day[1], year: century + day[2], time: time)
            if let date, date <= now + fiftyYears { return date }
        }
        return nil
    }

    private static func seconds(day: Substring, month: Substring, year: Substring, time: Substring) -> Int64? {
        guard day.utf8.count == 2, year.utf8.count == 4, time.utf8.count == 8,
            let month = months.firstIndex(of: String(month))
        else { return nil }
        let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
        return Timestamp.parse(bytes: "\(year)-\(number)-\(day)T\(time)Z".utf8)
    }
}
