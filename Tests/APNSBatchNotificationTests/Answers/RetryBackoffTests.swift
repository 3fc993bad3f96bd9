import Testing

@testable import APNSBatchNotification

@Suite("Retry backoff")
struct RetryBackoffTests {
    static let backoff = RetryBackoff(first: 1000, maximum: 60_000)

    @Test("The delay doubles up to the maximum, and half of it is random")
    func doubling() {
        let longest: [UInt64] = [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000, 60_000, 60_000]
        for (index, longest) in longest.enumerated() {
            let delays = (0..<10_000 as Range<UInt64>).map {
                Self.backoff.delay(afterAttempt: index + 1, random: $0 &* 0x9e37_79b9_7f4a_7c15)
            }
            #expect(delays.min()! >= longest / 2)
            #expect(delays.max()! <= longest)
            #expect(delays.max()! - delays.min()! > longest / 3)
        }
        #expect(Self.backoff.delay(afterAttempt: 1, random: 0) == 500)
        #expect(Self.backoff.delay(afterAttempt: 1, random: 500) == 1000)
    }

    @Test("The delay is at least the Retry-After of the server, up to a day")
    func retryAfter() {
        #expect(Self.backoff.delay(afterAttempt: 1, retryAfter: 30, random: 0) == 30_000)
        #expect(Self.backoff.delay(afterAttempt: 1, retryAfter: 0, random: 0) == 500)
        #expect(Self.backoff.delay(afterAttempt: 1, retryAfter: .max, random: 0) == 86_400_000)
    }

    @Test("Jitter is added to Retry-After so that rows do not return together")
    func retryAfterSpread() {
        let delays = (0..<1000 as Range<UInt64>).map {
            Self.backoff.delay(afterAttempt: 1, retryAfter: 30, random: $0 &* 0x9e37_79b9_7f4a_7c15)
        }
        #expect(delays.min()! >= 30_000 && delays.max()! <= 45_000)
        #expect(delays.max()! - delays.min()! > 14_000)
        let short = (0..<1000 as Range<UInt64>).map {
            Self.backoff.delay(afterAttempt: 4, retryAfter: 1, random: $0 &* 0x9e37_79b9_7f4a_7c15)
        }
        #expect(short.min()! >= 4000 && short.max()! > 8000, "by the usual delay, where that is longer")
    }

    @Test("The delay stays in range for extreme inputs", arguments: [Int.min, -1, 0, 1, 63, 64, 65, 1000, Int.max - 1])
    func extremes(attempt: Int) {
        let backoff = RetryBackoff(first: 1 << 40, maximum: .max - 1)
        let delay = backoff.delay(afterAttempt: attempt, random: .max)
        #expect(delay <= .max - 1 && delay >= 1 << 39)
    }
}
