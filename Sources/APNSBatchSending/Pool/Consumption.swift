/// What connections are used up with, where a server takes so many requests of each and no more.
///
/// Connections with a known life get their successors before they are used up, and neither these nor those of others that
/// served well and were told GOAWAY wait for the spacing that growth and failures have.
struct Consumption: Equatable {
    /// Requests that a connection serves in its life.
    private(set) var life = ConnectionLife()
    /// Connections that may be opened without spacing.
    private(set) var successors = 0
    /// Nanoseconds until a connection is up, as it is of late.
    private var setup: UInt64 = 5_000_000
    private var since: UInt64 = 0
    private var answeredThen: UInt64 = 0
    /// Answers in a second, as of late.
    private var rate = 0.0

    /// Fewer answers earn no successor without spacing.
    static let servedWell = 10

    mutating func look(now: UInt64, answered: UInt64) {
        guard now - since >= 10_000_000 else { return }
        let rate = Double(answered > answeredThen ? answered - answeredThen : 0) / (Double(now - since) / 1e9)
        self.rate = max(rate, self.rate * 0.8)
        (since, answeredThen) = (now, answered)
    }

    mutating func noteSetup(_ time: UInt64) { setup = (3 * setup + time) / 4 }

    /// A connection ended by a GOAWAY without an error.
    mutating func ended(served: Int) { life.ended(served: served) }

    mutating func outlived() { life.outlived() }

    mutating func earnSuccessor(most: Int) { successors = min(successors + 1, most) }
    mutating func useSuccessor() { successors -= 1 }
    mutating func forgetSuccessors() { successors = 0 }

    /// Requests that are sent while two successors come up one after the other.
    var need: Int { Int(rate * Double(2 * setup + 5_000_000) / 1e9) }
}

/// How many requests a connection serves before its server says GOAWAY, as its predecessors tell: 1,000 at nginx, unless it
/// is configured otherwise.
struct ConnectionLife: Equatable {
    /// Nil until two connections in a row served about as many.
    private(set) var requests: Int?
    private var last = 0

    /// A connection ended by a GOAWAY without an error.
    mutating func ended(served: Int) {
        let (less, more) = (min(served, last), max(served, last))
        requests = less > 0 && more - less <= more / 8 ? less : nil
        last = served
    }

    /// A connection serves more than those before it did.
    mutating func outlived() { self = ConnectionLife() }
}
