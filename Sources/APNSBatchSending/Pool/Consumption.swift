/// Predicts when connections are used up, for servers that accept only a fixed number of requests on each.
///
/// If that number is known, connections get their successors before they are used up. Those successors, and those of other
/// connections that ended with GOAWAY after enough answers, do not wait for the spacing that applies to growth and failures.
struct Consumption: Equatable {
    /// The number of requests that a connection serves.
    private(set) var life = ConnectionLife()
    /// The number of connections that may be opened without spacing.
    private(set) var successors = 0
    /// The recent mean time to establish a connection, in nanoseconds.
    private var setup: UInt64 = 5_000_000
    private var since: UInt64 = 0
    private var answeredThen: UInt64 = 0
    /// The recent rate in answers per second.
    private var rate = 0.0

    /// The number of answers that a connection needs for a successor without spacing.
    static let servedWell = 10

    mutating func look(now: UInt64, answered: UInt64) {
        guard now - since >= 10_000_000 else { return }
        let rate = Double(answered > answeredThen ? answered - answeredThen : 0) / (Double(now - since) / 1e9)
        self.rate = max(rate, self.rate * 0.8)
        (since, answeredThen) = (now, answered)
    }

    mutating func noteSetup(_ time: UInt64) { setup = (3 * setup + time) / 4 }

    /// Notes that a connection ended with a GOAWAY without an error.
    mutating func ended(served: Int) { life.ended(served: served) }

    mutating func outlived() { life.outlived() }

    mutating func earnSuccessor(most: Int) { successors = min(successors + 1, most) }
    mutating func useSuccessor() {
        assert(successors > 0, "a successor without spacing was earned")
        successors -= 1
    }
    mutating func forgetSuccessors() { successors = 0 }

    /// The number of requests that are sent while two successors are established one after the other.
    var need: Int { Int(rate * Double(2 * setup + 5_000_000) / 1e9) }
}

/// The number of requests that a connection serves before its server sends GOAWAY, estimated from earlier connections.
/// nginx's default is 1,000.
struct ConnectionLife: Equatable {
    /// Nil until two consecutive connections have served about the same number.
    private(set) var requests: Int?
    private var last = 0

    /// Notes that a connection ended with a GOAWAY without an error.
    mutating func ended(served: Int) {
        let (less, more) = (min(served, last), max(served, last))
        requests = less > 0 && more - less <= more / 8 ? less : nil
        last = served
    }

    /// Notes that a connection has served its life and continues.
    mutating func outlived() { self = ConnectionLife() }
}
