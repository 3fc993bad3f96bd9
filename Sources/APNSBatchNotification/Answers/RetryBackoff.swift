import APNSBatchBasics

/// The delay before a row is sent again: exponential, with jitter, up to a maximum.
///
/// Half of each delay is fixed and half is random, so that rows that failed together are not sent again together, and none
/// is sent again at once.
package struct RetryBackoff: Equatable, Sendable {
    /// The maximum delay before the second attempt, in milliseconds.
    package var first: UInt64
    /// The maximum delay, in milliseconds.
    package var maximum: UInt64
    /// The longest `retry-after` that is respected, in seconds, so that a server cannot delay a row forever.
    package var retryAfterMax: UInt64 = 86_400

    package init(first: UInt64, maximum: UInt64) {
        precondition(first >= 1 && maximum >= first)
        self.first = first
        self.maximum = maximum
    }

    /// The delays for ``Retry/Delay/short``: one second to one minute.
    package static let short = RetryBackoff(first: 1000, maximum: 60_000)
    /// The delays for ``Retry/Delay/long``: five seconds to 15 minutes, as Apple recommends.
    package static let long = RetryBackoff(first: 5000, maximum: 900_000)

    /// Returns the delay in milliseconds.
    ///
    /// - Parameters:
    ///   - attempt: the number of attempts that the row has had, at least 1.
    ///   - retryAfter: the seconds of a `retry-after` header. The delay is at least that, limited to ``retryAfterMax``,
    ///     plus a random part of up to half of it or of the usual delay, whichever is longer, because a server sends the
    ///     same to many rows, which must not all be sent again together.
    ///   - random: 64 random bits.
    package func delay(afterAttempt attempt: Int, retryAfter: UInt64? = nil, random: UInt64) -> UInt64 {
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
    /// Longer values are ignored.
    private static let lengthMax = 64

    /// Returns the number of seconds from `now` on; 0 for a date that has passed, nil for an invalid value.
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
