import APNSBatchBasics
import APNSBatchTransport

/// The addresses of the host, shared by the lanes, so that all their connections spread over them. The resolver is asked
/// when the run is made and anew for each connection, on a thread of its own; connections opened within a second share its
/// answer. A name that does not resolve is a connection that cannot be had: its place tries again, as long as the pool has
/// patience.
package final class AddressBook: Sendable {
    private struct State {
        var table = AddressTable([])
        /// Look-ups that have ended.
        var answers: UInt64 = 0
        var isAsking = false
        /// When the last one was asked for; nil until a connection needed one.
        var askedAt: UInt64?
        /// Why the last one failed.
        var failure: String?
        var everReached = false
    }

    /// What is looked up.
    let host: String
    private let port: UInt16
    private let surroundings: Surroundings
    private let state = Guarded(State())

    /// How long an answer is fresh, in nanoseconds.
    private static let freshness: UInt64 = 1_000_000_000

    /// Asks the resolver and does not wait for it, unless there is no thread for it.
    package init(host: String, port: UInt16, surroundings: Surroundings = .system) {
        self.host = host
        self.port = port
        self.surroundings = surroundings
        state.withLock { $0.isAsking = true }
        if !surroundings.aside("resolver", { [self] in lookUp() }) { lookUp() }
    }

    var count: Int { state.withLock { $0.table.count } }

    /// Why no address is known; nil while some are, and before the resolver has answered.
    var failure: String? { state.withLock { $0.table.count > 0 ? nil : $0.failure } }

    /// Asks the resolver anew, unless it was asked a moment ago or is being asked.
    ///
    /// - Returns: for `hasAnswered`.
    func ask(now: UInt64) -> UInt64 {
        let (ticket, asks) = state.withLock { state -> (UInt64, Bool) in
            // What `init` asked for is fresh for the first connections.
            if state.askedAt == nil { state.askedAt = now }
            if state.isAsking { return (state.answers + 1, false) }
            if let time = state.askedAt, now < time + Self.freshness { return (state.answers, false) }
            (state.isAsking, state.askedAt) = (true, now)
            return (state.answers + 1, true)
        }
        // Without a thread the addresses known before must do.
        if asks, !surroundings.aside("resolver", { [self] in lookUp() }) { tell(nil) }
        return ticket
    }

    private func lookUp() { tell(Result { try surroundings.resolve(host, port) }) }

    /// What fails changes nothing: the addresses known before serve on.
    private func tell(_ found: Result<[SocketAddress], any Error>?) {
        state.withLock { state in
            switch found {
            case .success(let addresses):
                state.failure = nil
                state.table.replace(by: addresses)
            case .failure(let error): state.failure = "\(error)"
            case nil: break
            }
            state.answers += 1
            state.isAsking = false
        }
    }

    func hasAnswered(_ ticket: UInt64) -> Bool { state.withLock { $0.answers >= ticket } }

    /// Whether a connection of any lane and provider has ever come up: what fails now may go well again.
    var everReached: Bool { state.withLock { $0.everReached } }

    func succeeded(_ address: SocketAddress) {
        state.withLock { state in
            state.everReached = true
            state.table.succeeded(address)
        }
    }

    /// The table of addresses, for a moment.
    func withTable<R>(_ body: (inout AddressTable) -> R) -> R where R: Sendable {
        state.withLock { body(&$0.table) }
    }
}
