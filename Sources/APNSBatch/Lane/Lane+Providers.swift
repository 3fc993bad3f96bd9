import LaneTransport
import Logging

/// Several providers: whose row goes where, and new credentials.
extension Lane {
    /// Takes rows as long as some provider has a stream. A row whose own provider has none is set aside, so that a slow
    /// team does not hold up the others; true when the room is used up.
    mutating func fillSeveral(_ room: Int) -> Bool {
        if waiting > 0 { sendWaiting(room) }
        while requests.count < room {
            guard mayLookFurther(), let flight = nextFlight() else { return false }
            let provider = Int(flights[flight].provider)
            if let member = providers[provider].pool.pick() {
                send(flight, to: member, of: provider)
            } else {
                setAside(flight, of: provider)
            }
        }
        return true
    }

    /// Whether another row may be taken before anybody knows whose it is.
    private func mayLookFurther() -> Bool {
        if waiting < Self.lookAhead { return true }
        return providers.indices.allSatisfy { providers[$0].waiting.count < Self.waitingLimit }
            && providers.indices.contains { providers[$0].pool.hasStream }
    }

    private mutating func sendWaiting(_ room: Int) {
        for provider in providers.indices {
            while providers[provider].waiting.count > 0, requests.count < room,
                let member = providers[provider].pool.pick(),
                let flight = providers[provider].waiting.takeFirst(in: flights)
            {
                waiting -= 1
                send(flight, to: member, of: provider)
            }
        }
    }

    /// Its record leaves the arena: rows that wait must not hold blocks that the other providers need.
    private mutating func setAside(_ flight: Int, of provider: Int) {
        leaveArena(flight)
        providers[provider].waiting.add(flight, in: flights)
        waiting += 1
    }

    /// Whether a provider needs connections. The only one connects before there is a row; of several each does when there
    /// is one for it.
    mutating func hasWork(_ provider: Int) -> Bool {
        guard providers.count == 1 else {
            return providers[provider].waiting.count > 0 || providers[provider].pool.inFlight > 0
        }
        if flights.count > 0 || rows.hasRow() { return true }
        return !providers[provider].pool.everUp && !rows.isExhausted
    }

    /// Takes credentials that were replaced: new connections use them, those that are open get successors.
    mutating func reload() {
        guard directory.generation != generation else { return }
        generation = directory.generation
        for (number, access) in directory.providers.enumerated()
        where access.generation != providers[number].access.generation {
            do {
                let tls = try makeTLS(access)
                if providers[number].tls != self.tls { transport.releaseTLS(providers[number].tls) }
                providers[number].tls = tls
                providers[number].access = access
                act(providers[number].pool.renewAll(), of: number)
            } catch {
                plan.log.failed(error, access)
            }
        }
    }

    private mutating func makeTLS(_ access: ProviderAccess) throws(TransportError) -> Int32 {
        access.certificate == nil ? tls : try transport.makeTLS(access.tls(plan.trust))
    }
}
