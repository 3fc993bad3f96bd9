import APNSBatchNotification
import LaneTransport

/// What a lane has for one provider: connections, credentials, and the rows that wait for a stream of theirs.
struct LaneProvider {
    /// The provider token that a connection started with, and who minted it: after a reload that may be another source
    /// than the provider has now.
    struct Token {
        let source: ProviderTokenSource
        let token: ProviderTokenRotation.Token

        func isSame(as other: Token) -> Bool { source === other.source && token == other.token }
    }

    /// A connection that waits for its address.
    struct Opening {
        var member: Int
        /// Its address must be of another family than this one.
        var rival: SocketAddress?
        var ticket: UInt64
        /// It waits no longer than this.
        var until: UInt64
    }

    /// Credentials, with the number of their TLS configuration: with a client certificate its own, else the lane's.
    typealias Credentials = (access: ProviderAccess, tls: Int32)

    var access: ProviderAccess
    var tls: Int32
    /// Those before the current ones, while connections have them.
    var previous: Credentials?
    var pool: ConnectionPool
    var waiting = WaitingRows()
    /// By member.
    var tokenOf: [Int: Token] = [:]
    var addressOf: [Int: SocketAddress] = [:]
    /// Connections to be opened that wait for the resolver.
    var opening: [Opening] = []
    /// Of its answers.
    var counts: AnswerCounts
    /// What may be sent, as of this turn.
    var mode: ProviderHealth.Mode = []
    /// When the last answer came, and how many there were then.
    var answeredAt: UInt64 = 0
    var answeredThen: UInt64 = 0

    init(access: ProviderAccess, tls: Int32, pool: ConnectionPool, counts: AnswerCounts) {
        self.counts = counts
        self.access = access
        self.tls = tls
        self.pool = pool
    }
}

/// Rows of one provider that were set aside because all its streams are taken, while another provider has some: a chain
/// through the flight table, first in, first out.
struct WaitingRows {
    private(set) var count = 0
    private var first: Int32 = -1
    private var last: Int32 = -1

    mutating func add(_ flight: Int, in flights: borrowing FlightTable) {
        flights[flight].next = -1
        if last >= 0 { flights[Int(last)].next = Int32(flight) } else { first = Int32(flight) }
        last = Int32(flight)
        count += 1
    }

    /// The one that has waited longest.
    mutating func takeFirst(in flights: borrowing FlightTable) -> Int? {
        guard first >= 0 else { return nil }
        let flight = Int(first)
        first = flights[flight].next
        if first < 0 { last = -1 }
        count -= 1
        return flight
    }
}

/// Which row may be taken before anybody knows whose it is.
enum LookAhead: Equatable {
    case anyRow
    /// Only one that is due again: it has its place already, whether it is sent or set aside.
    case dueRow
    case nothing

    /// - Parameters:
    ///   - setAside: rows that wait for a stream, over all providers.
    ///   - most: of one provider.
    ///   - hasStream: whether some provider has one to give.
    static func allowed(setAside: Int, most: @autoclosure () -> Int, hasStream: @autoclosure () -> Bool) -> LookAhead {
        if setAside < Lane.lookAhead { return .anyRow }
        guard hasStream() else { return .nothing }
        return most() < Lane.waitingLimit ? .anyRow : .dueRow
    }
}

/// A lane's providers, by number: a fixed slab.
struct LaneProviders: ~Copyable {
    private let providers: UnsafeMutablePointer<LaneProvider>
    let count: Int

    init(_ made: [LaneProvider]) {
        count = made.count
        providers = .allocate(capacity: count)
        for (number, provider) in made.enumerated() { (providers + number).initialize(to: provider) }
    }

    deinit {
        providers.deinitialize(count: count)
        providers.deallocate()
    }

    var indices: Range<Int> { 0..<count }

    subscript(number: Int) -> LaneProvider {
        unsafeAddress { UnsafePointer(providers + number) }
        nonmutating unsafeMutableAddress { providers + number }
    }

    /// The sum of one of the pools' numbers.
    func sum(_ number: (ConnectionPool) -> Int) -> Int {
        indices.reduce(0) { $0 + number(self[$1].pool) }
    }
}
