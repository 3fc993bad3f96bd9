import APNSBatchNotification
import LaneTransport

extension Lane {
    /// News of a connection.
    mutating func act(on event: EventRecord) {
        let (provider, member) = Self.owner(event.context)
        let access = providers[provider].access
        switch event.eventKind {
        case .up:
            plan.log.connected(event, access)
            providers[provider].pool.isUp(member, streams: Int(event.streams_max), now: now)
            if let address = providers[provider].addressOf[member] { addresses.succeeded(address) }
        case .settings:
            plan.log.settings(event, access)
            providers[provider].pool.settings(member, streams: Int(event.streams_max), now: now)
        case .goaway:
            goaway(event, provider, member)
            act(
                providers[provider].pool.goaway(
                    member, code: UInt32(truncatingIfNeeded: event.code), lastStream: event.last_stream, now: now),
                of: provider)
        case .pong: providers[provider].pool.ponged(member, now: now)
        case .down: down(provider, member, event)
        case .woken, .accepted, nil: break
        }
        nextTick = now
    }

    /// A connection's context is the provider's number and the pool's member.
    private static func owner(_ context: UInt64) -> (provider: Int, member: Int) {
        (Int(context >> 32), Int(context & 0xFFFF_FFFF))
    }

    private static func context(_ provider: Int, _ member: Int) -> UInt64 { UInt64(provider) << 32 | UInt64(member) }

    /// What is fatal stops the campaign, unless other credentials go on.
    private mutating func goaway(_ event: EventRecord, _ provider: Int, _ member: Int) {
        let access = providers[provider].access
        let debug = GoAwayDebug.parse(event.detailBytes)
        plan.log.goaway(event, debug, access)
        guard debug.isFatal, case .reason(let reason) = debug,
            !survives("goaway: \(reason)", saidTo: member, of: provider)
        else { return }
        let remedy = if case .known(let known) = reason { known.remedy } else { nil as String? }
        let text =
            "\(plan.endpoint) closed the connection with \(reason)\(access.forCredentials)"
            + (remedy.map { ": \($0)" } ?? "")
        control.stop(.failure(CampaignError(.fatalAnswer, text)))
    }

    private mutating func down(_ provider: Int, _ member: Int, _ event: EventRecord) {
        plan.log.disconnected(event, providers[provider].access)
        // A certificate that does not verify, a server without HTTP/2, a proxy that wants another password: the same
        // next time.
        let hopeless =
            event.failureScope == .tls || event.saysNoHTTP2 || event.failureScope == .proxy && event.code == 407
        let gone = providers[provider].pool.members[member]
        let text = refusal(event, at: providers[provider].addressOf[member], provider)
        if gone.upAt > 0 {
            let cause = event.detailText
            gauges.account.withLock { $0.noteEnd(ofConnection: cause) }
        }
        giveBackAddress(provider, member, failed: gone.phase == .connecting || gone.hasLost)
        providers[provider].tokenOf[member] = nil
        failed(provider, member, text, hopeless: hopeless)
    }

    /// What could not be connected to, and why. A proxy that cannot be reached is named, and not the server behind it.
    private func refusal(_ event: EventRecord, at address: SocketAddress?, _ provider: Int) -> String {
        let name = providers[provider].access.forName
        let place = address.map { "\($0)" } ?? ""
        if !plan.tunnel.isEmpty, event.connectionStage == .connecting {
            return "cannot connect to the proxy \(plan.proxy)\(name) (\(detail(event, place, unless: plan.proxy)))"
        }
        let proxy = plan.tunnel.isEmpty ? "" : " through the proxy \(plan.proxy)"
        let known = plan.tunnel.isEmpty ? plan.endpoint : plan.proxy
        return "cannot connect to \(plan.endpoint)\(name)\(proxy) (\(detail(event, place, unless: known)))"
    }

    /// With the address, where that is not what is named anyway.
    private func detail(_ event: EventRecord, _ address: String, unless name: String) -> String {
        address.isEmpty || address == name ? event.detailText : "\(address): \(event.detailText)"
    }

    private mutating func failed(
        _ provider: Int, _ member: Int, _ text: String, hopeless: Bool = false, isOwn: Bool = false
    ) {
        let failure = ConnectionFailure(
            isHopeless: hopeless && !addresses.everReached, addresses: addresses.count, text: text, isOwn: isOwn)
        act(providers[provider].pool.isDown(member, failure: failure, now: now, jitter: random.unit()), of: provider)
    }

    mutating func act(_ actions: [ConnectionPool.Action], of provider: Int) {
        for action in actions {
            switch action {
            case .open(let member): lookUp(provider, member, against: nil)
            case .race(let member, let other): lookUp(provider, member, against: other)
            case .drain(let member):
                if !forgetOpening(provider, member) {
                    transport.drain(providers[provider].pool.members[member].connection)
                }
            case .close(let member): close(provider, member)
            case .ping(let member): transport.ping(providers[provider].pool.members[member].connection)
            case .giveUp(let cause):
                let kind: CampaignError.Kind = providers[provider].pool.lastFailureIsOwn ? .system : .unreachable
                control.stop(.failure(CampaignError(kind, cause)))
            }
        }
    }

    private mutating func close(_ provider: Int, _ member: Int) {
        if forgetOpening(provider, member) { return }
        if providers[provider].pool.members[member].upAt > 0 { plan.log.silent(providers[provider].access) }
        transport.close(providers[provider].pool.members[member].connection)
    }

    private mutating func open(_ provider: Int, _ member: Int, to address: SocketAddress) {
        let (source, generation) = (providers[provider].access.tokens, providers[provider].access.generation)
        let racesAt = addresses.withTable { $0.hasOtherFamily(than: address) } ? now + plan.poolLimits.raceAfter : nil
        do {
            switch try source?.lease() {
            case nil:
                let connection = try connect(provider, member, address)
                providers[provider].pool.didOpen(
                    member, connection: connection, generation: generation, tokenExpiresAt: nil, racesAt: racesAt)
            case .token(let token, let authorization, let usableFor, let successorAfter):
                let connection = try connect(provider, member, address)
                providers[provider].pool.didOpen(
                    member, connection: connection, generation: generation, tokenExpiresAt: now + usableFor,
                    successorDueAt: now + successorAfter, racesAt: racesAt)
                providers[provider].tokenOf[member] = source.map { .init(source: $0, token: token) }
                authorize(connection, authorization, of: provider)
            case .wait(let pause):
                giveBackAddress(provider, member, failed: false)
                providers[provider].pool.notAllowed(member, until: now + pause)
            }
        } catch let error as CampaignError {
            control.stop(.failure(error))
        } catch {
            plan.log.failed(error, providers[provider].access)
            giveBackAddress(provider, member, failed: false)
            let name = providers[provider].access.forName
            failed(provider, member, "cannot connect to \(plan.endpoint)\(name) (\(error))", isOwn: true)
        }
    }

    /// Without its token the connection is of no use. Its end is an event of its own, and the pool hears of it then.
    private mutating func authorize(
        _ connection: ConnectionID, _ authorization: HeaderFieldBytes, of provider: Int
    ) {
        do {
            try transport.setFields([authorization], of: connection)
        } catch {
            plan.log.failed(error, providers[provider].access)
            transport.close(connection)
        }
    }

    private mutating func connect(
        _ provider: Int, _ member: Int, _ address: SocketAddress
    ) throws(TransportError) -> ConnectionID {
        try transport.connect(
            to: address, host: plan.host, tls: providers[provider].tls,
            context: Self.context(provider, member))
    }
}

/// Addresses: the resolver is asked before each connection, and the lane goes on meanwhile.
extension Lane {
    /// How long the resolver is waited for; then the addresses known before must do.
    private static var lookUpPatience: UInt64 { 2_000_000_000 }

    private mutating func lookUp(_ provider: Int, _ member: Int, against other: Int?) {
        providers[provider].opening.append(
            .init(
                member: member, rival: other.flatMap { providers[provider].addressOf[$0] },
                ticket: addresses.ask(now: now), until: now + Self.lookUpPatience))
        openWhatIsKnown(provider)
    }

    /// Opens the connections whose look-up has ended.
    mutating func openWhatIsKnown(_ provider: Int) {
        while let index = providers[provider].opening.firstIndex(where: {
            now >= $0.until || addresses.hasAnswered($0.ticket)
        }) {
            let opening = providers[provider].opening.remove(at: index)
            let time = now
            guard let address = addresses.withTable({ $0.take(against: opening.rival, now: time) }) else {
                noAddress(provider, opening)
                continue
            }
            providers[provider].addressOf[opening.member] = address
            open(provider, opening.member, to: address)
        }
    }

    /// The resolver knows none, or none of the family that a rival needs, or it has not answered yet.
    private mutating func noAddress(_ provider: Int, _ opening: LaneProvider.Opening) {
        if let failure = addresses.failure {
            failed(provider, opening.member, failure)
        } else if addresses.count == 0, opening.rival == nil {
            var opening = opening
            opening.until = now + Self.lookUpPatience
            providers[provider].opening.append(opening)
        } else {
            providers[provider].pool.notOpened(opening.member, until: now)
        }
    }

    /// True when the member was still waiting for an address: then there is nothing to close.
    private mutating func forgetOpening(_ provider: Int, _ member: Int) -> Bool {
        guard let index = providers[provider].opening.firstIndex(where: { $0.member == member }) else { return false }
        providers[provider].opening.remove(at: index)
        providers[provider].pool.notOpened(member, until: now)
        return true
    }

    /// - Parameter failed: the connection was tried and never came up.
    private mutating func giveBackAddress(_ provider: Int, _ member: Int, failed: Bool) {
        guard let address = providers[provider].addressOf.removeValue(forKey: member) else { return }
        let time = now
        addresses.withTable { $0.release(address, failed: failed, now: time) }
    }
}
