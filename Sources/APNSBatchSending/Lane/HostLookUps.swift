import APNSBatchTransport

/// The look-ups of the host for connections that wait for an address. The lane continues meanwhile.
struct HostLookUps: ~Copyable {
    struct LookUp {
        /// The addresses that are tried already for the same purpose.
        let rivals: [SocketAddress]
        let ticket: UInt64
        /// When the wait ends, in nanoseconds. Then an address that was known before is used.
        var until: UInt64
    }

    enum Result {
        /// There is no look-up, or it has not ended.
        case waiting
        case known(SocketAddress)
        case failed(String)
        /// No other address is known for a rival.
        case noRival
    }

    private let addresses: AddressBook
    private var lookUps: Slab<LookUp?>

    private static let patience: UInt64 = 2_000_000_000

    init(_ addresses: AddressBook, connections: Int) {
        self.addresses = addresses
        lookUps = Slab(capacity: connections)
        for _ in 0..<connections { lookUps.append(nil) }
    }

    func isWaiting(_ connection: Int) -> Bool { lookUps[connection] != nil }

    mutating func begin(_ connection: Int, against rivals: [SocketAddress], now: UInt64) {
        lookUps[connection] = LookUp(rivals: rivals, ticket: addresses.ask(now: now), until: now + Self.patience)
    }

    /// Returns the address for a connection when its look-up has ended. If it ended because of time and no address is known,
    /// the wait begins again.
    mutating func take(_ connection: Int, now: UInt64) -> Result {
        guard let lookUp = lookUps[connection], now >= lookUp.until || addresses.hasAnswered(lookUp.ticket) else {
            return .waiting
        }
        lookUps[connection] = nil
        if let address = addresses.withTable({ $0.take(against: lookUp.rivals, now: now) }) { return .known(address) }
        if let failure = addresses.failure { return .failed(failure) }
        guard addresses.count == 0, lookUp.rivals.isEmpty else { return .noRival }
        lookUps[connection] = lookUp
        lookUps[connection]?.until = now + Self.patience
        return .waiting
    }

    /// Returns whether there was a look-up.
    mutating func cancel(_ connection: Int) -> Bool {
        defer { lookUps[connection] = nil }
        return lookUps[connection] != nil
    }
}
