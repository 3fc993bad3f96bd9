/// When APNs gives up on a push: the `apns-expiration` header, seconds since 1970-01-01 00:00 UTC. 0 asks for one
/// attempt and no storage; without the header APNs stores for its own default, 30 days at most.
///
/// Source: Apple, "Sending notification requests to APNs".
package struct Expiration: Hashable, Sendable {
    /// Seconds since 1970-01-01 00:00 UTC, or 0.
    package let seconds: UInt32

    package init(seconds: UInt32) {
        self.seconds = seconds
    }

    /// One attempt, nothing stored.
    package static let once = Expiration(seconds: 0)

    /// The most bytes of the header's value.
    package static let lengthMax = 10

    /// Reads decimal digits, nothing around them. A time that needs more than 32 bits (after 2106) is a fault: it is
    /// milliseconds given for seconds.
    package static func parse(_ text: UnsafeRawBufferPointer) -> Result<Expiration, FieldFault> {
        if text.isEmpty { return .failure(.expirationNotANumber) }
        var value: UInt64 = 0
        for byte in text {
            let digit = byte &- UInt8(ascii: "0")
            guard digit < 10 else { return .failure(.expirationNotANumber) }
            // Stays far below overflow: beyond 32 bits only "too late" is left to say.
            value = min(value &* 10 &+ UInt64(digit), 1 << 40)
        }
        guard let seconds = UInt32(exactly: value) else { return .failure(.expirationTooLate) }
        return .success(Expiration(seconds: seconds))
    }

    /// Writes the header's value and returns its length. `out`: room for ``lengthMax`` bytes.
    package func write(to out: UnsafeMutableRawPointer) -> Int {
        Decimal.write(UInt64(seconds), to: out.assumingMemoryBound(to: UInt8.self))
    }

    /// Whether that time has passed. Never for 0, which is no time.
    package func hasPassed(now: Int64) -> Bool {
        seconds != 0 && Int64(seconds) <= now
    }
}
