extension ConnectionPool {
    /// All times are monotonic nanoseconds.
    struct Limits: Equatable {
        /// Members that may be open at once, draining ones not counted.
        var maximum = 8
        /// Least time between two opens; opening many at once looks like an attack to APNs.
        var openSpacing: UInt64 = 50_000_000
        /// How long a rate is measured before it is compared.
        var measureInterval: UInt64 = 250_000_000
        /// A doubling must raise the rate of answers by this factor to be worth another. Where the round trip is the limit
        /// it doubles the rate; a machine at its limit only wavers.
        var worthwhileGain = 1.3
        /// How long a pool that did not gain by growing stays as it is; twice as long each time it is so again.
        var holdAfterNoGain: UInt64 = 10_000_000_000
        var backoffFirst: UInt64 = 250_000_000
        var backoffLargest: UInt64 = 30_000_000_000
        /// How long no connection may be of use before the pool gives up.
        var patience: UInt64 = 60_000_000_000
    }
}
