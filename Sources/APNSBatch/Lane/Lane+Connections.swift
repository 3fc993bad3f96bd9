import APNSProtocol
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
        case .settings:
            plan.log.settings(event, access)
            providers[provider].pool.settings(member, streams: Int(event.streams_max), now: now)
        case .goaway:
            goaway(event, provider, member)
            act(providers[provider].pool.goaway(member, now: now), of: provider)
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
        control.stop(
            .failure(
                CampaignError(.fatalAnswer, "\(plan.endpoint) closed the connection\(access.forName): \(reason)")))
    }

    private mutating func down(_ provider: Int, _ member: Int, _ event: EventRecord) {
        plan.log.disconnected(event, providers[provider].access)
        // A certificate that does not verify, a server without HTTP/2: the same next time.
        let hopeless = event.failureScope == .tls || event.saysNoHTTP2
        if providers[provider].pool.members[member].phase == .connecting { addresses.askAnew() }
        providers[provider].tokenOf[member] = nil
        failed(provider, member, event.detailText, hopeless: hopeless)
    }

    private mutating func failed(_ provider: Int, _ member: Int, _ text: String, hopeless: Bool) {
        let name = providers[provider].access.forName
        let failure = ConnectionFailure(
            isHopeless: hopeless, addresses: addresses.count,
            text: "cannot connect to \(plan.endpoint)\(name): \(text)")
        act(providers[provider].pool.isDown(member, failure: failure, now: now, jitter: random.unit()), of: provider)
    }

    mutating func act(_ actions: [ConnectionPool.Action], of provider: Int) {
        for action in actions {
            switch action {
            case .open(let member, let address): open(provider, member, address)
            case .drain(let member): transport.drain(providers[provider].pool.members[member].connection)
            case .close(let member):
                plan.log.silent(providers[provider].access)
                transport.close(providers[provider].pool.members[member].connection)
            case .ping(let member): transport.ping(providers[provider].pool.members[member].connection)
            case .giveUp(let cause): control.stop(.failure(CampaignError(.unreachable, cause)))
            }
        }
    }

    private mutating func open(_ provider: Int, _ member: Int, _ address: Int) {
        let (source, generation) = (providers[provider].access.tokens, providers[provider].access.generation)
        do {
            switch try source?.lease() {
            case nil:
                let connection = try connect(provider, member, address)
                providers[provider].pool.didOpen(
                    member, connection: connection, generation: generation, tokenExpiresAt: nil)
            case .token(let token, let authorization, let usableFor, let successorAfter):
                let connection = try connect(provider, member, address)
                providers[provider].pool.didOpen(
                    member, connection: connection, generation: generation, tokenExpiresAt: now + usableFor,
                    successorDueAt: now + successorAfter)
                providers[provider].tokenOf[member] = source.map { .init(source: $0, token: token) }
                authorize(connection, authorization, of: provider)
            case .wait(let pause): providers[provider].pool.notOpened(member, until: now + pause)
            }
        } catch let error as CampaignError {
            control.stop(.failure(error))
        } catch {
            plan.log.failed(error, providers[provider].access)
            failed(provider, member, "\(error)", hopeless: false)
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
        _ provider: Int, _ member: Int, _ address: Int
    ) throws(TransportError) -> ConnectionID {
        try transport.connect(
            to: addresses[address], host: plan.host, tls: providers[provider].tls,
            context: Self.context(provider, member))
    }
}
