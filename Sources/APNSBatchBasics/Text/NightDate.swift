/// The date that a night is named by, when a run that begins before midnight may be continued after it.
///
/// The night of a date begins when local time reaches a time of day on that date, and ends when the next night begins. With a
/// beginning at 12:00, 23:50 on 21 November and 00:20 on 22 November are both in the night of 21 November.
///
/// Where a change of the clock skips the beginning, the night begins later by the length of the gap; where it repeats the
/// beginning, the night begins at the first of the two instants (RFC 5545, section 3.3.5). Dates therefore never go back as time
/// passes. A change of the clock that is nearer than a day to another one is not supported.
package enum NightDate {
    /// Returns the date of the night that an instant belongs to, such as `2026-11-21`.
    ///
    /// - Parameters:
    ///   - now: The instant, in seconds since 1970-01-01 00:00 UTC.
    ///   - beginning: The time of day at which a night begins, in seconds after midnight, below 86,400.
    ///   - offset: Returns by how many seconds local time is ahead of UTC at an instant.
    package static func text(at now: Int64, beginning: Int64, offset: (_ instant: Int64) -> Int64) -> String {
        let date = CivilTime(midnight(of: now, beginning, offset))
        return "\(date.year)-\(date.two(date.month))-\(date.two(date.day))"
    }

    /// Returns the instant at which the night of another instant began. Takes what ``text(at:beginning:offset:)`` takes.
    package static func began(at now: Int64, beginning: Int64, offset: (_ instant: Int64) -> Int64) -> Int64 {
        instant(of: midnight(of: now, beginning, offset) + beginning, offset)
    }

    /// Returns the local time at which the date begins that a night is named by.
    private static func midnight(of now: Int64, _ beginning: Int64, _ offset: (Int64) -> Int64) -> Int64 {
        let local = now + offset(now)
        // A night that began on the next date, as counted by a clock that is then set back, has begun too.
        var midnight = local - CivilTime(local).second + 86_400
        while instant(of: midnight + beginning, offset) > now { midnight -= 86_400 }
        return midnight
    }

    /// Returns the instant at which a local clock shows a time.
    ///
    /// - Parameter local: The time on the clock, in seconds since 1970-01-01 00:00 on the same clock.
    private static func instant(of local: Int64, _ offset: (Int64) -> Int64) -> Int64 {
        let (before, after) = (offset(local - 86_400), offset(local + 86_400))
        if offset(local - before) == before { return local - before }
        if offset(local - after) == after { return local - after }
        return local - before
    }

    /// Parses a time of day with two digits each for hours and minutes, such as `09:30`, and returns seconds after midnight; nil
    /// for any other text.
    package static func timeOfDay(_ text: String) -> Int64? {
        let parts = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.count == 2 }), let hour = Decimal.value(of: parts[0]),
            let minute = Decimal.value(of: parts[1]), hour < 24, minute < 60
        else { return nil }
        return Int64(hour * 3600 + minute * 60)
    }
}
