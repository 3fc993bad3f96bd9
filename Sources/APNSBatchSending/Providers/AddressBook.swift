import APNSBatchBasics
import APNSBatchTransport

/// The addresses of the host, shared by the lanes, so that all their connections spread over them. The host is looked up
/// when the run is made and again for each connection, on a thread of its own; connections opened within a second share an
/// answer. A host that does not resolve counts as a failed connection, which the pool tries again until its patience ends.
package final class AddressBook: Sendable {
    private struct State {
        var table = AddressTable([])
        /// The number of look-ups that have ended.
        var answers: UInt64 = 0
        var isAsking = false
        /// When the last look-up was requested, in nanoseconds; nil until a connection needed one.
        var askedAt: UInt64?
        /// Why the last look-up failed; nil if it did not.
        var failure: String?
        var everReached = false
    }

    /// The name that is looked up.
    let host: String
    private let port: UInt16
    private let surroundings: Surroundings
    private let state = Guarded(State())

    /// How long the answer to a look-up is fresh, in nanoseconds.
    private static let freshness: UInt64 = 1_000_000_000

    /// Starts a look-up without waiting for it. If there is no thread for it, the calling thread does it.
    package init(host: String, port: UInt16, surroundings: Surroundings = .system) {
        self.host = host
        self.port = port
        self.surroundings = surroundings
        state.withLock { $0.isAsking = true }
        if !surroundings.aside("resolver", { [self] in lookUp() }) { lookUp() }
    }

    var count: Int { state.withLock { $0.table.count } }

    /// Why no address is known. Nil while some are known, and before the first look-up has ended.
    var failure: String? { state.withLock { $0.table.count > 0 ? nil : $0.failure } }

    /// Starts a look-up, unless one is running or the last answer is fresh.
    ///
    /// - Returns: The ticket for `hasAnswered`.
    func ask(now: UInt64) -> UInt64 {
        let (ticket, asks) = state.withLock { state -> (UInt64, Bool) in
            // The look-up that `init` started is fresh for the first connections.
            if state.askedAt == nil { state.askedAt = now }
            if state.isAsking { return (state.answers + 1, false) }
            if let time = state.askedAt, now < time + Self.freshness { return (state.answers, false) }
            (state.isAsking, state.askedAt) = (true, now)
            return (state.answers + 1, true)
        }
        // If there is no thread, the known addresses stay in use.
        if asks, !surroundings.aside("resolver", { [self] in lookUp() }) { tell(nil) }
        return ticket
    }

    private func lookUp() { tell(Result { try surroundings.resolve(host, port) }) }

    /// Ends a look-up. A failure keeps the known addresses.
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

    /// Whether a connection of any lane and provider has ever come up, so that a failure may be temporary.
    var everReached: Bool { state.withLock { $0.everReached } }

    func succeeded(_ address: SocketAddress) {
        state.withLock { state in
            state.everReached = true
            state.table.succeeded(address)
        }
    }

    /// Calls a function with the table of addresses, under the lock.
    func withTable<R>(_ body: (inout AddressTable) -> R) -> R where R: Sendable {
        state.withLock { body(&$0.table) }
    }
}
