import LaneTransport

/// The addresses of the host, shared by the lanes, so that all their connections spread over them. The resolver is asked
/// anew for each connection, on a thread of its own; connections opened within a second share its answer.
final class AddressBook: Sendable {
    private struct State {
        var table: AddressTable
        /// Look-ups that have ended; the first is that of `init`.
        var answers: UInt64 = 1
        var isAsking = false
        /// When the last one was asked for.
        var askedAt: UInt64?
        var everReached = false
    }

    private let host: String
    private let port: UInt16
    private let surroundings: Surroundings
    private let state: Guarded<State>

    /// How long an answer is fresh, in nanoseconds.
    private static let freshness: UInt64 = 1_000_000_000

    /// Blocks for the resolver.
    init(host: String, port: UInt16, surroundings: Surroundings = .system) throws(CampaignError) {
        self.host = host
        self.port = port
        self.surroundings = surroundings
        do {
            state = Guarded(State(table: AddressTable(try surroundings.resolve(host, port))))
        } catch {
            throw CampaignError(.unreachable, "\(error)")
        }
    }

    var count: Int { state.withLock { $0.table.count } }

    /// Asks the resolver anew, unless it was asked a moment ago or is being asked.
    ///
    /// - Returns: for `hasAnswered`.
    func ask(now: UInt64) -> UInt64 {
        let (ticket, asks) = state.withLock { state -> (UInt64, Bool) in
            if state.isAsking { return (state.answers + 1, false) }
            // What `init` was told is fresh for the first connections.
            if state.askedAt == nil { state.askedAt = now }
            if let time = state.askedAt, now < time + Self.freshness { return (state.answers, false) }
            (state.isAsking, state.askedAt) = (true, now)
            return (state.answers + 1, true)
        }
        // Without a thread the addresses known before must do.
        if asks, !surroundings.aside("resolver", { [self] in lookUp() }) { tell(nil) }
        return ticket
    }

    /// What fails changes nothing: the addresses known before serve on.
    private func lookUp() { tell(try? surroundings.resolve(host, port)) }

    private func tell(_ found: [SocketAddress]?) {
        state.withLock { state in
            if let found { state.table.replace(by: found) }
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
