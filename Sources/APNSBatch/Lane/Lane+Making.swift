import APNSProtocol
import CSVReader
import LaneTransport

extension Lane {
    /// Makes a lane on the calling thread, which is the one that must run it.
    init(
        plan: CampaignPlan, control: RunControl, gauges: LaneGauges, addresses: AddressBook,
        providers directory: ProviderDirectory, input: InputReader, exchange: OutcomeExchange,
        handOver: HandOverBoard? = nil, waker: LaneWaker, board: AnswerBoard, number: Int
    ) throws(TransportError) {
        var transport = try Transport(Self.options(plan))
        if number == 0, transport.refusal != 0 { plan.log.ioUringRefused(transport.refusal) }
        try transport.setTunnel(plan.tunnel)
        let tls = try transport.makeTLS(plan.trust)
        let now = transport.now
        // Before the entries: what is replaced in between is taken again.
        let generation = directory.generation
        let providers = try Self.providers(directory.providers, &transport, tls: tls, plan, board, now: now)
        self.plan = plan
        self.number = number
        self.board = board
        canary = number == 0 ? plan.canary : nil
        self.control = control
        self.gauges = gauges
        self.addresses = addresses
        self.directory = directory
        self.tls = tls
        self.now = now
        self.generation = generation
        self.providers = providers
        // Last of what can fail: a waker must not keep a transport that went.
        transport.attach(waker)
        self.transport = transport
        rows = RowSource(
            queue: input.chunks, board: handOver, cursor: input.makeCursor(), seconds: plan.surroundings.seconds)
        preparer = RowPreparer(plan: plan)
        arena = SendArena(blocks: Self.arenaBlocks)
        flights = FlightTable(
            capacity: Self.streams(plan) + plan.backoff.rowsMax + Self.waitingLimit * plan.topics.providers)
        sink = OutcomeSink(exchange)
        load = LaneLoad(now: now, worked: plan.surroundings.worked)
        gathering = Gathering()
        // The canary is the first lane's.
        rows.isHeld = number > 0 && plan.canary != nil
        random = SplitMix(seed: plan.identity.0 ^ now)
    }

    private static func providers(
        _ entries: [ProviderAccess], _ transport: inout Transport, tls: Int32, _ plan: CampaignPlan,
        _ board: AnswerBoard, now: UInt64
    ) throws(TransportError) -> LaneProviders {
        var made: [LaneProvider] = []
        for access in entries {
            let own = access.certificate == nil ? tls : try transport.makeTLS(access.tls(plan.trust))
            let pool = ConnectionPool(limits: plan.poolLimits, now: now)
            made.append(LaneProvider(access: access, tls: own, pool: pool, counts: AnswerCounts(board.book)))
        }
        return LaneProviders(made)
    }

    /// 32 MiB of address space; few blocks of it are touched unless payloads are large and answers slow.
    private static let arenaBlocks = 512
    /// Of all providers, and as many again for those that drain.
    private static func connections(_ plan: CampaignPlan) -> Int {
        plan.poolLimits.members * plan.topics.providers
    }

    /// The core's places for the streams of all connections, up to what the core can have.
    private static func streams(_ plan: CampaignPlan) -> Int {
        min(1 << 20, connections(plan) * plan.poolLimits.streams)
    }

    private static func options(_ plan: CampaignPlan) -> TransportOptions {
        var options = TransportOptions()
        options.loop = plan.loop
        if let open = plan.surroundings.open { options.open = open }
        options.connections = connections(plan)
        options.streams = streams(plan)
        options.requestTimeout = plan.requestTimeout
        options.userTimeout = UInt32(min(UInt64(Int32.max), plan.poolLimits.pingPatience / 1_000_000))
        options.captures = plan.hasUniqueIDs ? ["retry-after", "apns-unique-id"] : ["retry-after"]
        return options
    }
}
