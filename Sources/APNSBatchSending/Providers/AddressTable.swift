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
    /// - Parameter rival: If given, the address must be of the other family than this one.
    mutating func take(against rival: SocketAddress? = nil, now: UInt64) -> SocketAddress? {
        let fit = entries.indices.filter { index in
            entries[index].isKnown && (rival == nil || entries[index].address.isIPv6 != rival?.isIPv6)
        }
        guard let best = fit.min(by: { rank(entries[$0], now) < rank(entries[$1], now) }) else { return nil }
        entries[best].uses += 1
        return entries[best].address
    }

    private func rank(_ entry: Entry, _ now: UInt64) -> (Int, UInt64) {
        now < entry.avoidedUntil ? (1, entry.avoidedUntil) : (0, UInt64(entry.uses))
    }

    /// Whether there is a known address of the other family.
    func hasOtherFamily(than address: SocketAddress) -> Bool {
        entries.contains { $0.isKnown && $0.address.isIPv6 != address.isIPv6 }
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
