import APNSBatchBasics

/// How long a row waits before it is sent again: exponential, with jitter, up to a maximum.
///
/// Half of each delay is fixed and half is random, so that rows which failed together do not come back together, and
/// none comes back at once.
package struct RetryBackoff: Equatable, Sendable {
    /// The delay before the second attempt, in milliseconds, at its longest.
    package var first: UInt64
    /// The longest delay, in milliseconds.
    package var maximum: UInt64
    /// How many attempts a row has in all, at least 1.
    package var attempts: Int
    /// The longest delay that a server may ask for, in seconds: it cannot park a row for ever.
    package var retryAfterMax: UInt64 = 86_400

    package init(first: UInt64, maximum: UInt64, attempts: Int) {
        precondition(first >= 1 && maximum >= first && attempts >= 1)
        self.first = first
        self.maximum = maximum
        self.attempts = attempts
    }

    /// For ``Retry/Delay/short``: from one second to a minute.
    package static let short = RetryBackoff(first: 1000, maximum: 60_000, attempts: 8)
    /// For ``Retry/Delay/long``: from five seconds to Apple's quarter of an hour.
    package static let long = RetryBackoff(first: 5000, maximum: 900_000, attempts: 10)

    /// The delay in milliseconds, or nil when no attempt is left.
    ///
    /// - Parameters:
    ///   - attempt: how many attempts the row has had, at least 1.
    ///   - retryAfter: seconds of a `retry-after` header; the delay is at least that, up to ``retryAfterMax``, and up to half
    ///     as long again or the usual delay more: a server says the same to many rows, and they must not come back together.
    ///   - random: 64 random bits.
    package func delay(afterAttempt attempt: Int, retryAfter: UInt64? = nil, random: UInt64) -> UInt64? {
        guard attempt < attempts else { return nil }
        let doublings = UInt64(max(1, attempt) - 1)
        let longest = doublings < 40 && first < maximum >> doublings ? first << doublings : maximum
        let half = longest / 2
        let jittered = half + random % (longest - half + 1)
        let asked = min(retryAfter ?? 0, retryAfterMax, UInt64(UInt32.max)) * 1000
        return asked == 0 ? jittered : max(jittered, asked + random % (max(longest, asked / 2) + 1))
    }
}

/// The `retry-after` field of a response, seconds or a date (RFC 9110 section 10.2.3).
package enum RetryAfter {
    /// Longer values are none.
    private static let lengthMax = 64

    /// How many seconds from now; 0 for a date that has passed, nil for what makes no sense.
    ///
    /// - Parameter now: seconds since 1970-01-01 00:00 UTC.
    package static func parse(_ value: UnsafeRawBufferPointer, now: Int64) -> UInt64? {
        guard unsafe !value.isEmpty, value.count <= lengthMax else { return nil }
        if unsafe value.allSatisfy(\.isDigit) { return unsafe Decimal.read(value[...]) ?? .max }
        guard let date = unsafe HTTPDate.parseAnyForm(String(decoding: value, as: UTF8.self), now: now) else {
            return nil
        }
        return UInt64(max(0, date - now))
    }
}
