import LaneTransport
import Logging

/// Several providers: whose row goes where, and new credentials.
extension Lane {
    /// Takes rows as long as some provider has a stream. A row whose own provider has none is set aside, so that a slow
    /// team does not hold up the others; true when the room is used up.
    mutating func fillSeveral(_ room: Int) -> Bool {
        if waiting > 0 { sendWaiting(room) }
        while requests.count < room {
            guard let flight = nextFlightOfSeveral() else { return false }
            let provider = Int(flights[flight].provider)
            if let member = stream(of: provider) {
                send(flight, to: member, of: provider)
            } else {
                setAside(flight, of: provider)
            }
        }
        return true
    }

    private mutating func nextFlightOfSeveral() -> Int? {
        let look = LookAhead.allowed(
            setAside: waiting, most: providers.indices.reduce(0) { max($0, providers[$1].waiting.count) },
            hasStream: providers.indices.contains { providers[$0].pool.hasStream })
        switch look {
        case .anyRow: return nextFlight()
        case .dueRow: return takeDue()
        case .nothing: return nil
        }
    }

    private mutating func sendWaiting(_ room: Int) {
        for provider in providers.indices {
            while providers[provider].waiting.count > 0, requests.count < room,
                let member = stream(of: provider),
                let flight = providers[provider].waiting.takeFirst(in: flights)
            {
                waiting -= 1
                if !endIfExpired(flight) { send(flight, to: member, of: provider) }
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
        if sendsNothing { return providers[provider].pool.inFlight > 0 }
        guard providers.count == 1 else {
            return providers[provider].waiting.count > 0 || providers[provider].pool.inFlight > 0
        }
        // Rows that wait for another attempt ask nobody meanwhile, and where no other may be taken nobody waits.
        if flights.count > retries.count || retries.isDue(now: now) || mayTakeFresh && rows.hasRow() { return true }
        return !providers[provider].pool.everUp && !rows.isExhausted
    }

    /// Takes credentials that were replaced: new connections use them, those that are open get successors.
    mutating func reload() {
        guard directory.generation != generation else { return }
        generation = directory.generation
        for (number, access) in directory.providers.enumerated()
        where access.generation != providers[number].access.generation {
            do {
                replace(number, by: (access, try makeTLS(access)))
            } catch {
                plan.log.failed(error, access)
            }
        }
    }

    /// Those before stay at hand while connections have them; of two changes in a row, those with which rows were accepted.
    private mutating func replace(_ number: Int, by next: LaneProvider.Credentials) {
        let current = (access: providers[number].access, tls: providers[number].tls)
        let isProven = providers[number].pool.provenGeneration == current.access.generation
        if isProven || providers[number].previous == nil {
            forgetPrevious(of: number)
            providers[number].previous = current
        } else {
            release(current.tls)
        }
        (providers[number].access, providers[number].tls) = next
        act(providers[number].pool.renewAll(), of: number)
    }

    /// Something fatal was said to a connection: true when others go on, because it leaves, or because its credentials are
    /// new and those before them still serve.
    mutating func survives(_ cause: String, saidTo member: Int, of provider: Int) -> Bool {
        let previous = providers[provider].previous
        switch providers[provider].pool.refused(member, previous: previous?.access.generation) {
        case .final: return takesOthers(of: provider)
        case .ofLeaving(let actions): act(actions, of: provider)
        case .ofNew(let actions):
            act(actions, of: provider)
            if let previous { goBack(to: previous, cause, provider) }
        }
        return true
    }

    /// Another lane may have learned that the credentials are no good, and the directory may have others by now.
    private mutating func takesOthers(of provider: Int) -> Bool {
        let refused = providers[provider].access.generation
        reload()
        return providers[provider].access.generation != refused
    }

    private mutating func goBack(to previous: LaneProvider.Credentials, _ cause: String, _ provider: Int) {
        let refused = providers[provider].access
        plan.log.refused(cause, refused)
        release(providers[provider].tls)
        (providers[provider].access, providers[provider].tls) = previous
        providers[provider].previous = nil
        directory.takeBack(provider, refused: refused.generation, to: previous.access)
    }

    /// When no connection has them any more.
    mutating func forgetPrevious(of provider: Int) {
        guard let previous = providers[provider].previous else { return }
        release(previous.tls)
        providers[provider].previous = nil
    }

    private mutating func release(_ tls: Int32) {
        if tls != self.tls { transport.releaseTLS(tls) }
    }

    private mutating func makeTLS(_ access: ProviderAccess) throws(TransportError) -> Int32 {
        access.certificate == nil ? tls : try transport.makeTLS(access.tls(plan.trust))
    }
}
