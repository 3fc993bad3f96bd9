extension ConnectionPool {
    /// All times are monotonic nanoseconds.
    struct Limits: Equatable {
        /// Members that may be open at once, draining ones not counted.
        var maximum = 8
        /// Streams of one member that are used at once at most, whatever its server allows.
        var streams = 1000
        /// Room for as many draining members as open ones, and for a rival of the only one.
        var members: Int { max(4, 2 * maximum) }
        /// Least time between two opens; opening many at once looks like an attack to APNs.
        var openSpacing: UInt64 = 50_000_000
        /// How long a rate is measured before it is compared.
        var measureInterval: UInt64 = 250_000_000
        /// A doubling must raise the rate of answers by this factor to be worth another. Where the round trip is the limit
        /// it doubles the rate; a machine at its limit only wavers.
        var worthwhileGain = 1.3
        /// A doubling that did not raise it by this factor is taken back.
        var leastGain = 1.1
        /// How long a pool that did not gain by growing stays as it is; twice as long each time it is so again.
        var holdAfterNoGain: UInt64 = 10_000_000_000
        /// How long a connection may take to come up before another address family is tried beside it. Longer than RFC 8305
        /// says (section 8), for not only TCP must be up by then, but TLS and HTTP/2, too: three round trips and more.
        var raceAfter: UInt64 = 1_000_000_000
        var backoffFirst: UInt64 = 250_000_000
        var backoffLargest: UInt64 = 30_000_000_000
        /// The longest pause after a connection that left as soon as it had come, and had answered something.
        var backoffFleeting: UInt64 = 1_000_000_000
        /// How long no connection may be of use before the pool gives up.
        var patience: UInt64 = 60_000_000_000
        /// The same, and the longest time without any answer, once there have been answers in this run.
        var outagePatience: UInt64 = 3_600_000_000_000
        /// How long no answer may come to rows that wait before all connections are replaced; after twice as long the pool
        /// gives up.
        var answerPatience: UInt64 = 60_000_000_000
        /// How long a connection whose peer said GOAWAY is given to answer what it has.
        var goawayPatience: UInt64 = 10_000_000_000
        /// Silence of a connection with requests under way after which it is asked for a sign of life.
        var pingAfter: UInt64 = 5_000_000_000
        /// The same while nothing is asked of it.
        var pingIdleAfter: UInt64 = 60_000_000_000
        /// How long a PING may stay without an answer before the connection is closed.
        var pingPatience: UInt64 = 10_000_000_000
        /// How long a limit that fell to nearly nothing is borne before a successor is wanted.
        var fallenPatience: UInt64 = 1_000_000_000
    }
}
