import APNSProtocol
import CSVReader
import LaneTransport

extension Lane {
    /// Makes a lane on the calling thread, which is the one that must run it.
    init(
        plan: CampaignPlan, control: RunControl, gauges: LaneGauges, addresses: AddressBook, input: InputReader,
        exchange: OutcomeExchange, waker: LaneWaker
    ) throws(TransportError) {
        self.plan = plan
        self.control = control
        self.gauges = gauges
        self.addresses = addresses
        var transport = try Transport(Self.options(plan))
        tls = try transport.makeTLS(plan.tls)
        now = transport.now
        // Last of what can fail: a waker must not keep a transport that went.
        transport.attach(waker)
        self.transport = transport
        pool = ConnectionPool(limits: plan.poolLimits, now: now)
        rows = RowSource(queue: input.chunks, cursor: input.makeCursor())
        preparer = RowPreparer(plan: plan)
        arena = SendArena(blocks: Self.arenaBlocks)
        flights = FlightTable(capacity: Self.streams(plan) + Self.retryLimit)
        sink = OutcomeSink(exchange)
        random = SplitMix(seed: plan.identity.0 ^ now)
    }

    /// 32 MiB of address space; few blocks of it are touched unless payloads are large and answers slow.
    private static let arenaBlocks = 512
    /// Streams that APNs allows on one connection at most, as far as has been seen.
    private static let streamsPerConnection = 1500

    /// The core's places: for each connection, and as many again for those that drain, up to what the core can have.
    private static func streams(_ plan: CampaignPlan) -> Int {
        min(1 << 20, plan.poolLimits.maximum * 2 * streamsPerConnection)
    }

    private static func options(_ plan: CampaignPlan) -> TransportOptions {
        var options = TransportOptions()
        options.loop = plan.loop
        options.connections = plan.poolLimits.maximum * 2
        options.streams = streams(plan)
        options.requestTimeout = plan.requestTimeout
        options.captures = ["retry-after"]
        return options
    }
}
