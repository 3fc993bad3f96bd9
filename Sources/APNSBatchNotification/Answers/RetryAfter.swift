/// The `retry-after` field of a response, seconds or a date (RFC 9110 section 10.2.3).
package enum RetryAfter {
    /// Longer values are none.
    private static let lengthMax = 64

    /// How many seconds from now; 0 for a date that has passed, nil for what makes no sense.
    ///
    /// - Parameter now: seconds since 1970-01-01 00:00 UTC.
    package static func parse(_ value: UnsafeRawBufferPointer, now: Int64) -> UInt64? {
        guard !value.isEmpty, value.count <= lengthMax else { return nil }
        if value.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }) { return Decimal.read(value[...]) ?? .max }
        guard let date = HTTPDate.parseAnyForm(String(decoding: value, as: UTF8.self), now: now) else { return nil }
        return UInt64(max(0, date - now))
    }
}
