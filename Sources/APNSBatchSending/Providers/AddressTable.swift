import APNSBatchTransport

/// The addresses of the host, and which of them the next connection takes: one that is not in use before one that is, and
/// one that failed of late after all others. Pure.
struct AddressTable: Equatable {
    private struct Entry: Equatable {
        let address: SocketAddress
        /// Connections that have it.
        var uses = 0
        /// Failures in a row.
        var failures = 0
        var avoidedUntil: UInt64 = 0
        /// The resolver still tells it.
        var isKnown = true
    }

    private var entries: [Entry]

    init(_ addresses: [SocketAddress]) { entries = addresses.map { Entry(address: $0) } }

    /// Addresses that the resolver told last.
    var count: Int { entries.count { $0.isKnown } }

    /// Takes what the resolver told: in its order, with what is known of those that were there before.
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

    /// The address for the next connection; give it back with `release`.
    ///
    /// - Parameter rival: it must be of another family than this one. Nil when there is none.
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

    /// Whether an address of the other family could be tried, too.
    func hasOtherFamily(than address: SocketAddress) -> Bool {
        entries.contains { $0.isKnown && $0.address.isIPv6 != address.isIPv6 }
    }

    /// The connection came up.
    mutating func succeeded(_ address: SocketAddress) {
        guard let index = entries.firstIndex(where: { $0.address == address }) else { return }
        entries[index].failures = 0
        entries[index].avoidedUntil = 0
    }

    /// The connection is gone.
    ///
    /// - Parameter failed: it never came up.
    mutating func release(_ address: SocketAddress, failed: Bool, now: UInt64) {
        guard let index = entries.firstIndex(where: { $0.address == address }) else { return }
        entries[index].uses = max(0, entries[index].uses - 1)
        guard failed else { return }
        entries[index].avoidedUntil =
            now + min(Self.avoidedLongest, Self.avoidedFirst << UInt64(entries[index].failures))
        entries[index].failures = min(entries[index].failures + 1, 10)
    }

    private static let avoidedFirst: UInt64 = 1_000_000_000
    private static let avoidedLongest: UInt64 = 30_000_000_000
}
