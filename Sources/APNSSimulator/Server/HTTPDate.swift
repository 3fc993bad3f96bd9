/// The `date` of an answer in its one form of today (RFC 9110, section 5.6.7), as `Sun, 06 Nov 1994 08:49:37 GMT`. Made
/// once a second.
struct HTTPDate: ~Copyable {
    static let length = 29
    private let text: UnsafeMutablePointer<UInt8>
    private var second = Int64.min

    init() {
        text = .allocate(capacity: Self.length)
        text.initialize(repeating: UInt8(ascii: " "), count: Self.length)
    }

    deinit {
        text.deallocate()
    }

    /// The date of a time in milliseconds since the epoch, valid until a call in another second.
    mutating func bytes(_ milliseconds: Int64) -> Bytes {
        let now = milliseconds.floored(1000)
        if now != second {
            second = now
            write(now)
        }
        return Bytes(start: text, count: Self.length)
    }

    private func write(_ seconds: Int64) {
        let days = seconds.floored(86_400)
        let (year, month, day) = Self.civil(days: days)
        let names: [StaticString] = ["Thu, ", "Fri, ", "Sat, ", "Sun, ", "Mon, ", "Tue, ", "Wed, "]
        let months: [StaticString] = [
            " Jan ", " Feb ", " Mar ", " Apr ", " May ", " Jun ", " Jul ", " Aug ", " Sep ", " Oct ", " Nov ", " Dec ",
        ]
        put(names[Int(days - days.floored(7) * 7)], at: 0)
        put(day, digits: 2, at: 5)
        put(months[Int(month) - 1], at: 7)
        put(year, digits: 4, at: 12)
        let time = seconds - days * 86_400
        put(" ", at: 16)
        put(time / 3600, digits: 2, at: 17)
        put(":", at: 19)
        put(time / 60 % 60, digits: 2, at: 20)
        put(":", at: 22)
        put(time % 60, digits: 2, at: 23)
        put(" GMT", at: 25)
    }

    private func put(_ word: StaticString, at place: Int) {
        for index in 0..<word.utf8CodeUnitCount {
            text[place + index] = word.utf8Start[index]
        }
    }

    private func put(_ value: Int64, digits: Int, at place: Int) {
        var value = value
        for index in stride(from: digits - 1, through: 0, by: -1) {
            text[place + index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: (value % 10 + 10) % 10)
            value /= 10
        }
    }

    /// Year, month and day of a number of days since 1970-01-01. Counted in years that begin in March, so that the leap
    /// day is a year's last one, and in eras of 400 years, which all have 146,097 days.
    private static func civil(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = shifted.floored(146_097)
        let ofEra = shifted - era * 146_097
        let year = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * year + year / 4 - year / 100)
        let march = (5 * ofYear + 2) / 153
        let month = march < 10 ? march + 3 : march - 9
        return (year + era * 400 + (month <= 2 ? 1 : 0), month, ofYear - (153 * march + 2) / 5 + 1)
    }
}

extension Int64 {
    /// The quotient, rounded down.
    fileprivate func floored(_ divisor: Int64) -> Int64 {
        let quotient = self / divisor
        return quotient * divisor > self ? quotient - 1 : quotient
    }
}
