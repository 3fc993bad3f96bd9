import APNSBatchTransport

/// Selects the address of the host for the next connection: the one with the fewest connections, and those that failed
/// recently only after all others. A pure value.
struct AddressTable: Equatable {
    private struct Entry: Equatable {
        let address: SocketAddress
        /// The number of connections to the address.
        var uses = 0
        /// The number of failures in a row.
        var failures = 0
        var avoidedUntil: UInt64 = 0
        /// Whether the last answer of the resolver contains it.
        var isKnown = true
    }

    private var entries: [Entry]

    init(_ addresses: [SocketAddress]) { entries = addresses.map { Entry(address: $0) } }

    /// The number of addresses in the last answer of the resolver.
    var count: Int { entries.count { $0.isKnown } }

    /// Takes the addresses of an answer, in its order, and keeps what is known of those that were there before.
    mutating func replace(by addresses: [SocketAddress]) {
        let next = addresses.map { address in
            var entry = entries.first { $0.address == address } ?? Entry(address: address)
            entry.isKnown = true
            return entry
        }
        let gone = entries.filter { entry in entry.uses > 0 && !addresses.contains(entry.address) }
        entries = next + gone
        for index in next.count..<entries.count { entries[index].isKnown = false }
    }

    /// Takes an address for the next connection, which must give it back with `release`. Returns nil if there is none.
    ///
    /// - Parameter rivals: The addresses that are tried already; it must not be one of them. It is of the other family than the
    ///   last one, if there is such an address.
    mutating func take(against rivals: [SocketAddress] = [], now: UInt64) -> SocketAddress? {
        let fit = entries.indices.filter { entries[$0].isKnown && !rivals.contains(entries[$0].address) }
        let family = rivals.last?.isIPv6
        let order = fit.map { (index: $0, rank: rank(entries[$0], against: family, now)) }
        guard let best = order.min(by: { $0.rank < $1.rank })?.index else { return nil }
        entries[best].uses += 1
        return entries[best].address
    }

    private func rank(_ entry: Entry, against family: Bool?, _ now: UInt64) -> (Int, Int, UInt64) {
        let isSameFamily = entry.address.isIPv6 == family ? 1 : 0
        return now < entry.avoidedUntil ? (1, isSameFamily, entry.avoidedUntil) : (0, isSameFamily, UInt64(entry.uses))
    }

    /// Whether another address is known than these.
    func hasOther(than addresses: [SocketAddress]) -> Bool {
        entries.contains { $0.isKnown && !addresses.contains($0.address) }
    }

    /// Notes that a connection to the address came up.
    mutating func succeeded(_ address: SocketAddress) {
        guard let index = entries.firstIndex(where: { $0.address == address }) else { return }
        entries[index].failures = 0
        entries[index].avoidedUntil = 0
    }

    /// Gives back the address of a connection that has ended.
    ///
    /// - Parameter failed: Whether the connection never came up; the address is then avoided for a while.
    mutating func release(_ address: SocketAddress, failed: Bool, now: UInt64) {
        guard let index = entries.firstIndex(where: { $0.address == address }) else { return }
        entries[index].uses = max(0, entries[index].uses - 1)
        guard failed else { return }
        entries[index].avoidedUntil =
            now + min(Self.avoidedLongest, Self.avoidedFirst << UInt64(entries[index].failures))
        entries[index].failures = min(entries[index].failures + 1, 10)
    }

    /// Avoids the address of a connection that was replaced because of its answers, while there are others.
    mutating func avoid(_ address: SocketAddress, now: UInt64) {
        guard let index = entries.firstIndex(where: { $0.address == address }) else { return }
        entries[index].avoidedUntil = max(entries[index].avoidedUntil, now + Self.avoidedFirst)
    }

    private static let avoidedFirst: UInt64 = 1_000_000_000
    private static let avoidedLongest: UInt64 = 30_000_000_000
}
