/// Timestamps of RFC 3339, section 5.6, such as `2026-01-01T02:00:00+02:00`. Fractions of a second are ignored.
package enum Timestamp {
    /// Returns seconds since 1970-01-01 00:00 UTC, or nil for other texts and for days that do not exist.
    package static func parse(_ text: UnsafeRawBufferPointer) -> Int64? { unsafe parse(bytes: text) }

    static func parse(bytes text: some Collection<UInt8>) -> Int64? {
        var text = Reader(rest: text[...])
        guard let local = text.local({ $0.skip("T") }), let offset = text.offset(), text.rest.isEmpty else {
            return nil
        }
        return local - offset
    }

    /// A time as databases print it.
    package enum Printed: Equatable, Sendable {
        /// Seconds since 1970-01-01 00:00 UTC.
        case instant(Int64)
        /// A time without a zone, which is no instant.
        case local
    }

    /// Reads a time of RFC 3339, or one that PostgreSQL, DuckDB, MySQL, BigQuery, Snowflake or Spark prints: with a blank in place of the
    /// `T`, and with an offset such as `+00`, `-0530`, `+05:30:15` or ` UTC`, or none. Nil for other texts.
    package static func parse(printed text: UnsafeRawBufferPointer) -> Printed? { unsafe parse(printedBytes: text) }

    private static func parse(printedBytes text: some Collection<UInt8>) -> Printed? {
        var text = Reader(rest: text[...])
        guard let local = text.local({ $0.skip("T") || $0.skip(" ") }) else { return nil }
        if text.rest.isEmpty { return .local }
        _ = text.skip(" ")
        if text.skip("U") { return text.skip("T") && text.skip("C") && text.rest.isEmpty ? .instant(local) : nil }
        guard let offset = text.printedOffset(), text.rest.isEmpty else { return nil }
        return .instant(local - offset)
    }

    /// Returns a timestamp in UTC, such as `2026-01-01T00:00:00Z`.
    ///
    /// - Parameter seconds: Seconds since 1970-01-01 00:00 UTC.
    package static func text(_ seconds: Int64) -> String {
        let time = CivilTime(seconds)
        return "\(time.year)-\(time.two(time.month))-\(time.two(time.day))T\(time.clock)Z"
    }

    /// Formats a time that may be any number: it is limited to the last second of the year 9999.
    package static func text(ofSeconds seconds: UInt64) -> String { text(Int64(min(seconds, 253_402_300_799))) }

    private struct Reader<Rest: Collection<UInt8>> where Rest.SubSequence == Rest {
        var rest: Rest

        mutating func number(_ digits: Int) -> Int64? {
            guard rest.count >= digits, let value = Decimal.value(of: rest.prefix(digits)) else { return nil }
            rest.removeFirst(digits)
            return Int64(value)
        }

        /// Skips the character; letters match in either case.
        mutating func skip(_ character: Unicode.Scalar) -> Bool {
            guard let byte = rest.first else { return false }
            let isLetter = character.properties.isAlphabetic
            guard byte == UInt8(ascii: character) || (isLetter && byte & ~0x20 == UInt8(ascii: character)) else {
                return false
            }
            rest.removeFirst()
            return true
        }

        /// Reads date, separator and time of day; returns seconds since 1970-01-01 00:00 of the same zone.
        mutating func local(_ separator: (inout Self) -> Bool) -> Int64? {
            guard let year = number(4), skip("-"), let month = number(2), skip("-"), let day = number(2),
                separator(&self), let hour = number(2), skip(":"), let minute = number(2), skip(":"),
                let second = number(2), skipFraction(), 1...12 ~= month, 1...Timestamp.daysIn(month, of: year) ~= day,
                hour < 24, minute < 60, second <= 60
            else { return nil }
            return CivilTime.days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second
        }

        mutating func skipFraction() -> Bool {
            guard skip(".") else { return true }
            let digits = rest.prefix(while: \.isDigit).count
            rest.removeFirst(digits)
            return digits > 0
        }

        /// Reads `Z`, or hours and minutes ahead of UTC; returns seconds.
        mutating func offset() -> Int64? {
            if skip("Z") { return 0 }
            let sign: Int64 = rest.first == UInt8(ascii: "-") ? -1 : 1
            guard skip("+") || skip("-"), let hours = number(2), skip(":"), let minutes = number(2), hours < 24,
                minutes < 60
            else { return nil }
            return sign * (hours * 3600 + minutes * 60)
        }

        /// Reads `Z`, or hours, and perhaps minutes and seconds, ahead of UTC; returns seconds.
        mutating func printedOffset() -> Int64? {
            if skip("Z") { return 0 }
            let sign: Int64 = rest.first == UInt8(ascii: "-") ? -1 : 1
            guard skip("+") || skip("-"), var seconds = number(2).map({ $0 * 3600 }), seconds < 86_400 else {
                return nil
            }
            for unit in [60, 1] as [Int64] where !rest.isEmpty {
                _ = skip(":")
                guard let value = number(2), value < 60 else { return nil }
                seconds += value * unit
            }
            return sign * seconds
        }
    }

    private static func daysIn(_ month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

/// A time in UTC in the proleptic Gregorian calendar. The algorithm counts years from March, so that a leap day is the
/// last day of a year, and in eras of 400 years, each of which has 146,097 days.
struct CivilTime {
    let year: Int64
    let month: Int64
    let day: Int64
    /// Seconds since midnight.
    let second: Int64
    /// Days since Sunday.
    let weekday: Int

    /// - Parameter seconds: Seconds since 1970-01-01 00:00.
    init(_ seconds: Int64) {
        let days = seconds.floored(86_400)
        second = seconds - days * 86_400
        // 1970-01-01 was a Thursday.
        weekday = Int(days + 4 - (days + 4).floored(7) * 7)
        let shifted = days + 719_468
        let era = shifted.floored(146_097)
        let dayOfEra = shifted - era * 146_097
        let years = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * years + years / 4 - years / 100)
        let monthsFromMarch = (5 * dayOfYear + 2) / 153
        month = monthsFromMarch < 10 ? monthsFromMarch + 3 : monthsFromMarch - 9
        year = years + era * 400 + (month <= 2 ? 1 : 0)
        day = dayOfYear - (153 * monthsFromMarch + 2) / 5 + 1
    }

    /// Returns the number of days from 1970-01-01 to a date.
    static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let years = month > 2 ? year : year - 1
        let monthsFromMarch = (month + 9) % 12
        let dayOfYear = (153 * monthsFromMarch + 2) / 5 + day - 1
        let yearOfEra = years % 400
        return years / 400 * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The time of day, such as `23:59:59`.
    var clock: String { "\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60))" }

    /// Returns a number with at least two digits.
    func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

extension Int64 {
    /// Returns the quotient, rounded down.
    fileprivate func floored(_ divisor: Int64) -> Int64 {
        let quotient = self / divisor
        return quotient * divisor > self ? quotient - 1 : quotient
    }
}
