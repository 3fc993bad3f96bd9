import APNSProtocol
import LaneTransport

extension Lane {
    /// News of a connection. Its context is the pool's member.
    mutating func act(on event: EventRecord) {
        let member = Int(event.context)
        switch event.eventKind {
        case .up:
            plan.log.connected(event)
            pool.isUp(member, streams: Int(event.streams_max), now: now)
        case .settings: pool.settings(member, streams: Int(event.streams_max))
        case .goaway:
            goaway(event)
            act(pool.retire(member))
        case .down: down(member, event)
        case .woken, .pong, .accepted, nil: break
        }
        nextTick = now
    }

    private mutating func goaway(_ event: EventRecord) {
        let debug = GoAwayDebug.parse(event.detailBytes)
        plan.log.goaway(event, debug)
        guard debug.isFatal, case .reason(let reason) = debug else { return }
        control.stop(.failure(CampaignError(.fatalAnswer, "\(plan.endpoint) closed the connection: \(reason)")))
    }

    private mutating func down(_ member: Int, _ event: EventRecord) {
        plan.log.disconnected(event)
        // A certificate that does not verify, a server without HTTP/2: the same next time.
        let hopeless = event.failureScope == .tls || event.saysNoHTTP2
        if pool.members[member].phase == .connecting { addresses.askAnew() }
        act(
            pool.isDown(
                member, failure: failure(event.detailText, hopeless: hopeless), now: now, jitter: random.unit()))
    }

    mutating func act(_ actions: [ConnectionPool.Action]) {
        for action in actions {
            switch action {
            case .open(let member, let address): open(member, address)
            case .drain(let member): transport.drain(pool.members[member].connection)
            case .giveUp(let cause): control.stop(.failure(CampaignError(.unreachable, cause)))
            }
        }
    }

    private mutating func open(_ member: Int, _ address: Int) {
        do {
            switch try plan.tokens?.lease() {
            case nil: try connect(member, address)
            case .token(let token, let authorization, let usableFor):
                try connect(member, address, authorization: authorization, tokenExpiresAt: now + usableFor)
                tokenOf[member] = token
            case .wait(let pause): pool.notOpened(member, until: now + pause)
            }
        } catch let error as CampaignError {
            control.stop(.failure(error))
        } catch {
            plan.log.failed(error)
            act(pool.isDown(member, failure: failure("\(error)", hopeless: false), now: now, jitter: random.unit()))
        }
    }

    private mutating func connect(
        _ member: Int, _ address: Int, authorization: HeaderFieldBytes? = nil, tokenExpiresAt: UInt64? = nil
    ) throws(TransportError) {
        let connection = try transport.connect(
            to: addresses[address], host: plan.host, tls: tls, context: UInt64(member))
        pool.didOpen(member, connection: connection, tokenExpiresAt: tokenExpiresAt)
        if let authorization { try transport.setFields([authorization], of: connection) }
    }

    private func failure(_ text: String, hopeless: Bool) -> ConnectionFailure {
        ConnectionFailure(
            isHopeless: hopeless, addresses: addresses.count, text: "cannot connect to \(plan.endpoint): \(text)")
    }
}
