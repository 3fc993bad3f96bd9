/// Times as RFC 3339 section 5.6 writes them: `2026-01-01T02:00:00+02:00`. Fractions of a second are passed over.
package enum Timestamp {
    /// Seconds since 1970-01-01 00:00 UTC; nil for another text or a day that does not exist.
    package static func parse(_ text: UnsafeRawBufferPointer) -> Int64? {
        var rest = text[...]
        guard let year = number(&rest, 4), skip(&rest, "-"), let month = number(&rest, 2), skip(&rest, "-"),
            let day = number(&rest, 2), skip(&rest, "T"), let hour = number(&rest, 2), skip(&rest, ":"),
            let minute = number(&rest, 2), skip(&rest, ":"), let second = number(&rest, 2), skipFraction(&rest),
            let offset = offset(&rest), rest.isEmpty
        else { return nil }
        guard 1...12 ~= month, 1...daysIn(month, of: year) ~= day, hour < 24, minute < 60, second <= 60 else {
            return nil
        }
        return daysSince1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset
    }

    /// A time in UTC as ``parse(_:)`` reads it: `2026-01-01T00:00:00Z`.
    package static func text(_ seconds: Int64) -> String {
        let (days, second) = (seconds / 86_400, seconds % 86_400)
        var year = 1970 + days / 366
        while daysSince1970(year + 1, 1, 1) <= days { year += 1 }
        var month: Int64 = 1
        while month < 12, daysSince1970(year, month + 1, 1) <= days { month += 1 }
        let day = days - daysSince1970(year, month, 1) + 1
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(year)-\(two(month))-\(two(day))T\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60))Z"
    }

    private static func number(_ rest: inout Slice<UnsafeRawBufferPointer>, _ digits: Int) -> Int64? {
        guard rest.count >= digits, let value = Decimal.read(rest.prefix(digits)) else { return nil }
        rest = rest.dropFirst(digits)
        return Int64(value)
    }

    /// Passes the character, a letter in either case.
    private static func skip(_ rest: inout Slice<UnsafeRawBufferPointer>, _ character: Unicode.Scalar) -> Bool {
        guard let byte = rest.first else { return false }
        let isLetter = character.properties.isAlphabetic
        guard byte == UInt8(ascii: character) || (isLetter && byte & ~0x20 == UInt8(ascii: character)) else {
            return false
        }
        rest = rest.dropFirst()
        return true
    }

    private static func skipFraction(_ rest: inout Slice<UnsafeRawBufferPointer>) -> Bool {
        guard skip(&rest, ".") else { return true }
        let digits = rest.prefix(while: \.isDigit)
        rest = rest.dropFirst(digits.count)
        return !digits.isEmpty
    }

    /// `Z`, or hours and minutes ahead of UTC; in seconds.
    private static func offset(_ rest: inout Slice<UnsafeRawBufferPointer>) -> Int64? {
        if skip(&rest, "Z") { return 0 }
        let sign: Int64 = rest.first == UInt8(ascii: "-") ? -1 : 1
        guard skip(&rest, "+") || skip(&rest, "-"), let hours = number(&rest, 2), skip(&rest, ":"),
            let minutes = number(&rest, 2), hours < 24, minutes < 60
        else { return nil }
        return sign * (hours * 3600 + minutes * 60)
    }

    private static func daysIn(_ month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days of the proleptic Gregorian calendar. Years are counted from March, so that a leap day is a year's last.
    private static func daysSince1970(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let years = month > 2 ? year : year - 1
        let monthsFromMarch = (month + 9) % 12
        let dayOfYear = (153 * monthsFromMarch + 2) / 5 + day - 1
        let era = years / 400
        let yearOfEra = years % 400
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}
