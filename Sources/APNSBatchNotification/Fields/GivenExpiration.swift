/// When pushes expire, as people write it: a point in time, or so long after the start of the campaign.
package enum GivenExpiration: Hashable, Sendable {
    case at(Expiration)
    /// Seconds after the campaign's start, so that all pushes of a campaign go stale together.
    case after(UInt32)

    /// The longest duration taken: APNs stores for 30 days at most (Apple, "Sending notification requests to APNs"), and
    /// what is longer is a slip.
    package static let durationMax: UInt32 = 365 * 86_400

    /// Reads one of
    ///
    /// - seconds since 1970-01-01 00:00 UTC, or 0 for one attempt: `1767225600`;
    /// - a time of RFC 3339 with its offset: `2026-01-01T00:00:00Z`, `2026-01-01T02:00:00+02:00`;
    /// - a duration, whole seconds, minutes, hours or days: `90s`, `30m`, `2h`, `7d`.
    package static func parse(_ text: UnsafeRawBufferPointer) -> Result<GivenExpiration, FieldFault> {
        guard let last = text.last else { return .failure(.expirationNotANumber) }
        if let unit = seconds(of: last) { return duration(text.dropLast(), unit) }
        if text.contains(UInt8(ascii: "T")) || text.contains(UInt8(ascii: "t")) { return time(text) }
        return Expiration.parse(text).map { .at($0) }
    }

    /// What goes into the header of a campaign that started then, in seconds since 1970-01-01 00:00 UTC.
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
        guard let count = Decimal.read(digits), count > 0 else { return .failure(.expirationNotANumber) }
        let (seconds, overflow) = count.multipliedReportingOverflow(by: unit)
        guard !overflow, seconds <= UInt64(durationMax) else { return .failure(.expirationTooLong) }
        return .success(.after(UInt32(seconds)))
    }

    private static func time(_ text: UnsafeRawBufferPointer) -> Result<GivenExpiration, FieldFault> {
        guard let seconds = Timestamp.parse(text) else { return .failure(.expirationNotANumber) }
        guard let short = UInt32(exactly: seconds) else { return .failure(.expirationTooLate) }
        return .success(.at(Expiration(seconds: short)))
    }
}
