extension ConnectionPool {
    /// The limits of a pool. All times are in nanoseconds.
    struct Limits: Equatable {
        /// The maximum number of open members, not counting draining ones.
        var maximum = 8
        /// The maximum number of streams in use at once on one member, even if its server allows more.
        var streams = 1000
        /// The capacity: as many draining members as open ones, and a rival of the only one.
        var members: Int { max(4, 2 * maximum) }
        /// The spacing. APNs may treat many connections opened at once as an attack.
        var openSpacing: UInt64 = 50_000_000
        /// The shortest time over which the time of answers is measured; a quarter of an answer, if that is longer.
        var measureInterval: UInt64 = 50_000_000
        /// The number of answers that a measurement needs, unless it lasts this long and four times the shortest time.
        var measureAnswers: UInt64 = 100
        var measureLongest: UInt64 = 1_000_000_000
        /// The factor by which a doubling must raise the rate of answers to be followed by another. Where the round-trip
        /// time is the limit a doubling doubles the rate; where the server or the machine is at its limit the rate only
        /// fluctuates.
        var worthwhileGain = 1.3
        /// The factor by which a doubling must raise the rate of answers not to be undone.
        var leastGain = 1.1
        /// The factor up to which answers take the same time.
        var sameTime = 1.25
        /// The factor from which on answers take so much longer than the best ones that fewer connections may do, for how
        /// long they must do so, and how much more than needed is kept then.
        var slowTime = 2.0
        var shrinkAfter: UInt64 = 3_000_000_000
        var reserve = 1.5
        /// The share by which the best time of an answer rises in a second, so that it is forgotten in a minute or two.
        var bestRises = 0.01
        /// The time for which the number of connections stays after a doubling that did not help; it doubles each time.
        var holdAfterNoGain: UInt64 = 10_000_000_000
        /// The time for a connection to come up after which another address is tried in parallel. It is longer than
        /// RFC 8305 recommends (section 8), since not only TCP, but TLS and HTTP/2 must be established: three round trips or
        /// more.
        var raceAfter: UInt64 = 1_000_000_000
        /// The time for a connection to come up after which growth no longer waits for it.
        var hangsAfter: UInt64 = 3_000_000_000
        var backoffFirst: UInt64 = 250_000_000
        var backoffLargest: UInt64 = 30_000_000_000
        /// The longest pause after a connection that answered something but ended at once.
        var backoffFleeting: UInt64 = 1_000_000_000
        /// The time without a usable connection after which the pool gives up.
        var patience: UInt64 = 60_000_000_000
        /// The same, and the longest time without any answer, once there have been answers in this run.
        var outagePatience: UInt64 = 3_600_000_000_000
        /// The time without an answer to waiting rows after which all connections are replaced. After twice as long the pool
        /// gives up.
        var answerPatience: UInt64 = 60_000_000_000
        /// The time that a connection has to answer the requests in flight after GOAWAY.
        var goawayPatience: UInt64 = 10_000_000_000
        /// The time without an answer after which a PING is sent on a connection with requests in flight.
        var pingAfter: UInt64 = 5_000_000_000
        /// The same for a connection without requests in flight.
        var pingIdleAfter: UInt64 = 60_000_000_000
        /// The time after which an unanswered PING ends a connection.
        var pingPatience: UInt64 = 10_000_000_000
        /// The time after which a connection whose stream limit fell to nearly nothing is replaced.
        var fallenPatience: UInt64 = 1_000_000_000
    }
}
