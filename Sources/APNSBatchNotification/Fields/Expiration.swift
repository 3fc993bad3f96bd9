import APNSBatchBasics

/// The time at which APNs stops trying to deliver a push: the `apns-expiration` header. 0 means one attempt and no storage.
/// Without the header, APNs stores a push for its own default time, at most 30 days.
///
/// Source: Apple, "Sending notification requests to APNs".
package struct Expiration: Hashable, Sendable {
    /// Seconds since 1970-01-01 00:00 UTC, or 0.
    package let seconds: UInt32

    package init(seconds: UInt32) {
        self.seconds = seconds
    }

    /// One attempt, without storage.
    package static let once = Expiration(seconds: 0)

    /// The maximum length of the header's value in bytes.
    package static let lengthMax = 10

    /// Parses decimal digits, without blanks. A time of more than 32 bits (after 2106) is a fault, because it is probably
    /// in milliseconds.
    package static func parse(_ text: UnsafeRawBufferPointer) -> Result<Expiration, FieldFault> {
        if unsafe text.isEmpty { return .failure(.expirationNotANumber) }
        var value: UInt64 = 0
        for index in text.indices {
            let digit = unsafe text[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return .failure(.expirationNotANumber) }
            // Values beyond 32 bits are all "too late", so the sum is capped far below overflow.
            value = min(value &* 10 &+ UInt64(digit), 1 << 40)
        }
        guard let seconds = UInt32(exactly: value) else { return .failure(.expirationTooLate) }
        return .success(Expiration(seconds: seconds))
    }

    /// Writes the header's value and returns its length. `out` must have room for ``lengthMax`` bytes.
    package func write(to out: UnsafeMutableRawPointer) -> Int {
        unsafe Decimal.write(UInt64(seconds), to: out.assumingMemoryBound(to: UInt8.self))
    }

    /// Whether the time has passed. Never true for 0, which is not a time.
    package func hasPassed(now: Int64) -> Bool {
        seconds != 0 && Int64(seconds) <= now
    }
}

/// An expiration as given in settings and rows: a point in time, or a duration from the start of the campaign.
package enum GivenExpiration: Hashable, Sendable {
    case at(Expiration)
    /// Seconds after the campaign's start, so that all pushes of a campaign expire at the same time.
    case after(UInt32)

    /// The longest duration accepted. APNs stores for at most 30 days (Apple, "Sending notification requests to APNs"), so
    /// a longer one is a mistake.
    package static let durationMax: UInt32 = 365 * 86_400

    /// Parses one of
    ///
    /// - seconds since 1970-01-01 00:00 UTC, or 0 for one attempt: `1767225600`;
    /// - the same with a fraction, as databases print it: `1767225600.25`;
    /// - a time of RFC 3339 with its offset: `2026-01-01T00:00:00Z`, `2026-01-01T02:00:00+02:00`, or one that a database prints, with its
    ///   zone: `2026-01-01 00:00:00.25+00`, `2026-01-01 00:00:00 UTC`;
    /// - a duration in whole seconds, minutes, hours or days: `90s`, `30m`, `2h`, `7d`.
    package static func parse(_ text: UnsafeRawBufferPointer) -> Result<GivenExpiration, FieldFault> {
        guard let last = unsafe text.last else { return .failure(.expirationNotANumber) }
        if let unit = seconds(of: last) { return unsafe duration(text.dropLast(), unit) }
        if unsafe text.count > 4 && text[4] == UInt8(ascii: "-") { return unsafe time(text) }
        return unsafe Expiration.parse(wholeSeconds(text)).map { .at($0) }
    }

    /// Returns the expiration for a campaign that started at `start`, in seconds since 1970-01-01 00:00 UTC.
    package func expiration(start: UInt64) -> Expiration {
        switch self {
        case .at(let expiration): expiration
        case .after(let seconds): Expiration(seconds: UInt32(clamping: start + UInt64(seconds)))
        }
    }

    private static func seconds(of unit: UInt8) -> UInt64? {
        switch unit {
        case UInt8(ascii: "s"): 1
        case UInt8(ascii: "m"): 60
        case UInt8(ascii: "h"): 3600
        case UInt8(ascii: "d"): 86_400
        default: nil
        }
    }

    private static func duration(
        _ digits: Slice<UnsafeRawBufferPointer>, _ unit: UInt64
    ) -> Result<GivenExpiration, FieldFault> {
        guard let count = unsafe Decimal.read(digits), count > 0 else { return .failure(.expirationNotANumber) }
        let (seconds, overflow) = count.multipliedReportingOverflow(by: unit)
        guard !overflow, seconds <= UInt64(durationMax) else { return .failure(.expirationTooLong) }
        return .success(.after(UInt32(seconds)))
    }

    /// Seconds since 1970 need at least this many digits: fewer would be before 1973.
    private static let leastDigits = 9

    /// Returns seconds since 1970 without their fraction, and any other text as it is.
    private static func wholeSeconds(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        guard let point = unsafe text.firstIndex(of: UInt8(ascii: ".")), point >= leastDigits,
            unsafe Decimal.read(text[(point + 1)...]) != nil
        else { return unsafe text }
        return unsafe UnsafeRawBufferPointer(rebasing: text[..<point])
    }

    private static func time(_ text: UnsafeRawBufferPointer) -> Result<GivenExpiration, FieldFault> {
        guard let printed = unsafe Timestamp.parse(printed: text) else { return .failure(.expirationNotANumber) }
        guard case .instant(let seconds) = printed else { return .failure(.expirationWithoutZone) }
        guard let short = UInt32(exactly: seconds) else { return .failure(.expirationTooLate) }
        return .success(.at(Expiration(seconds: short)))
    }
}
