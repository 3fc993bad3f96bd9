import APNSBatch
import APNSBatchModel
import APNSBatchSimulator
import APNSBatchTransport

/// The plan that a seed determines: rows, campaign options, and faults of network and server.
struct SeedPlan {
    /// The probabilities of the server's faults in the phase with faults, in millionths.
    struct ServerFaults {
        /// The share of requests that are affected.
        var refused: UInt32 = 0
        var reset: UInt32 = 0
        var forgotten: UInt32 = 0
        /// The share of the server's turns that are affected.
        var goaway: UInt32 = 0
        var settings: UInt32 = 0
        var closed: UInt32 = 0
    }

    let seed: UInt64
    var rows: [InputRow]
    var lanes: Int
    var connections: Int
    var attempts: Int
    var retryDelay: UInt64
    var requestTimeout: UInt32
    var chunkBytes: Int
    /// Whether rows are kept while they are read, as those of a program are.
    var isSpooled = false
    var streams: UInt32
    /// The number of bytes that a client may send in advance for one body; 0 for all.
    var streamWindow: UInt32
    /// The time after which a provider token is replaced, in seconds; nil for the default.
    var mintAfter: Int?
    /// The events that end the first sessions; the session after them runs to the end.
    var mishaps: [Mishap] = []
    /// Whether each session has a different number of lanes.
    var variesLanes = false
    /// The policies of the sessions; the last one also applies to all later sessions.
    var policies: [UnknownPolicy] = [.resend]
    /// Whether later sessions send rows again that were unavailable.
    var retriesUnavailable = false
    /// The time between two syncs of the outcomes, in milliseconds.
    var syncInterval: Int
    /// The time after which nothing more is sent, in seconds; nil for none.
    var notAfter: UInt64?
    /// The number of rows of the canary, and the maximum percentage of them that may be rejected.
    var canary: (rows: Int, percent: Double)?
    /// The time at which the run is paused and the length of the pause, in nanoseconds after the start.
    var pause: (after: UInt64, time: UInt64)?
    /// The times at which this process stands still, and for how long, in nanoseconds after the start.
    var standstills: [(after: UInt64, time: UInt64)] = []
    /// Whether standing still is the only fault. Then every row is sent once.
    var onlyStandsStill = false
    /// The limits of requests per time, and those that replace them at a time, in nanoseconds after the start.
    var rateLimit = Campaign.RateLimit()
    var rateChange: (after: UInt64, limit: Campaign.RateLimit)?
    /// The number of outcomes in a batch, and the number of bytes of lines that are written together; nil for the
    /// defaults.
    var outcomesPerBatch: Int?
    var lineBytes: Int?
    var script: SimulatorScript
    var world: SimulatedWorld.Options
    var server: ServerFaults
    /// The time at which faults end, in nanoseconds after the start.
    var calmAfter: UInt64

    /// A description of the plan for the reader of a trace.
    var text: String {
        """
        \(rows.count) rows, \(lanes) lanes, \(connections) connections, \(attempts) attempts, \
        retry after \(retryDelay) ms, requests take \(requestTimeout) ms at most, chunks of \(chunkBytes) bytes
        \(streams) streams, window \(streamWindow), tokens for \(mintAfter ?? 0) s, \
        calm after \(calmAfter / 1_000_000) ms
        sessions end by \(mishaps), rows that may have been sent: \(policies.map(\.name)), \
        a sync every \(syncInterval) ms, not after \(notAfter ?? 0) s, canary \(canary?.rows ?? 0), \
        pause \((pause?.after ?? 0) / 1_000_000) ms for \((pause?.time ?? 0) / 1_000_000) ms
        \(rateLimit); after \((rateChange?.after ?? 0) / 1_000_000) ms \(rateChange.map { "\($0.limit)" } ?? "the same")
        \(outcomesPerBatch ?? 0) outcomes a batch, \(lineBytes ?? 0) bytes of lines
        \(isSpooled ? "rows are kept in a spool" : "rows come from a file")
        stands still: \(standstills.map { "\($0.after / 1_000_000) ms for \($0.time / 1_000_000) ms" }), \
        \(onlyStandsStill ? "and nothing else goes wrong" : "among other things")
        script: \(script)
        network: \(world)
        server: \(server)
        """
    }

    func lanes(of session: Int) -> Int { variesLanes ? 1 + (lanes + session) % 2 : lanes }

    /// The time after the last fault in which the run must finish, which is the longest chain of time limits and
    /// pauses, with a margin.
    var calmPatience: UInt64 {
        // While all connections are sick, the pauses between probes double, and each probe goes over another connection.
        let ofProbes: UInt64 = script.faults.isEmpty ? 0 : 600_000_000_000
        return 120_000_000_000 + standstills.reduce(0) { $0 + $1.time } + ofProbes
    }

    init(seed: UInt64) {
        var dice = Dice(seed: seed)
        self.seed = seed
        rows = InputRow.draw(&dice)
        lanes = dice.chance(300_000) ? 2 : 1
        connections = dice.within(1...4)
        attempts = dice.within(2...6)
        retryDelay = UInt64(dice.within(1...300))
        requestTimeout = UInt32(dice.within(200...3000))
        chunkBytes = dice.pick([512, 2048, 8192, 65536])
        streams = UInt32(dice.pick([1, 2, 5, 20, 100, 1000]))
        mintAfter = dice.chance(100_000) ? dice.within(1...3) : nil
        script = Self.script(&dice)
        world = Self.world(&dice)
        streamWindow = dice.chance(200_000) ? Self.window(&dice, world, requestTimeout) : 0
        server = Self.server(&dice)
        calmAfter = UInt64(dice.within(1...2000)) * 1_000_000
        syncInterval = dice.pick([10, 50, 200, 1000])
        drawSessions(&dice)
        drawPolicy(&dice)
        // The following choices come last, so that older seeds keep their meaning.
        retriesUnavailable = dice.chance(500_000)
        drawStandstills(&dice)
        drawCapacities(&dice)
        drawLossAfterResume(&dice)
        drawRate(&dice)
        // Rows are spread over a time only if their number is known.
        isSpooled = dice.chance(300_000) && rateLimit.spread == nil && rateChange?.limit.spread == nil
        drawSickness(&dice)
    }

    /// Chooses connections that refuse everything for a number of requests and at most two seconds, or answer late.
    private mutating func drawSickness(_ dice: inout Dice) {
        guard !onlyStandsStill, dice.chance(200_000) else { return }
        // Rows that are refused again and again would be the only ones for probes in the end, and no probe would succeed for hours.
        script.rules.removeAll { $0.status == 429 || $0.status >= 500 }
        let refusals = [
            (429, "TooManyRequests"), (429, "TooManyProviderTokenUpdates"), (500, "InternalServerError"),
            (503, "ServiceUnavailable"), (503, "Shutdown"),
        ]
        script.faults = (0..<dice.within(1...3)).map { _ in
            var when = FaultOccasion(after: dice.pick([0, 1, 20, 100]), times: 4)
            if dice.chance(600_000) {
                when.connection = dice.within(1...6)
            } else {
                when.connectionEvery = dice.within(1...3)
            }
            let (requests, (status, reason)) = (dice.within(1...300), dice.pick(refusals))
            let storm = StormFault(status: status, reason: reason, requests: requests, milliseconds: 2000)
            return SimulatorFault(
                dice.chance(150_000)
                    ? .slow(SlowFault(milliseconds: dice.within(1...150), requests: requests)) : .storm(storm),
                when: when)
        }
    }

    /// Whether a connection may give this answer to any request.
    func hasSickness(status: UInt16) -> Bool {
        script.faults.contains { fault in
            if case .storm(let storm) = fault.what { storm.status == Int(status) } else { false }
        }
    }

    /// Chooses limits of requests per time. All rows can be sent within the patience for a calm run.
    private mutating func drawRate(_ dice: inout Dice) {
        guard dice.chance(250_000) else { return }
        rateLimit = Self.rateLimit(&dice)
        guard dice.chance(300_000) else { return }
        rateChange = (UInt64(dice.within(0...3000)) * 1_000_000, Self.rateLimit(&dice))
    }

    private static func rateLimit(_ dice: inout Dice) -> Campaign.RateLimit {
        let rates: [Campaign.Rate] = [
            .init(50, per: .second), .init(4019, per: .minute), .init(500, per: .second), .init(5000, per: .second),
            .init(50_000, per: .second), .init(3_600_000, per: .hour),
        ]
        var limit = Campaign.RateLimit(rate: dice.pick(rates))
        if dice.chance(300_000) { limit.ramp = .seconds(dice.within(1...5)) }
        if dice.chance(200_000) { limit.spread = .seconds(dice.within(1...10)) }
        return limit
    }

    /// Chooses capacities of batches and buffers that are full all the time, as they are in campaigns with millions of
    /// rows.
    private mutating func drawCapacities(_ dice: inout Dice) {
        guard dice.chance(330_000) else { return }
        outcomesPerBatch = dice.pick([1, 2, 3, 10])
        lineBytes = dice.within(4_800...6_500)
    }

    /// Chooses a session that is killed while parts of its ledger are not durable, and a loss of power while the next
    /// session begins.
    private mutating func drawLossAfterResume(_ dice: inout Dice) {
        guard !onlyStandsStill, dice.chance(150_000) else { return }
        let loss = DiskFault(kind: .powerLoss, operation: dice.within(1...3), isOfSyncs: true)
        mishaps = [.killAtRequest(dice.within(10...200), powerless: false), .disk(loss)] + mishaps.prefix(2)
        syncInterval = 1000
        if policies.count > 1 { policies = mishaps.indices.map { policies[$0 % policies.count] } + [policies[0]] }
    }

    /// Chooses times at which the process is stopped, for less than the time limits or for more.
    private mutating func drawStandstills(_ dice: inout Dice) {
        onlyStandsStill = dice.chance(50_000)
        guard onlyStandsStill || dice.chance(150_000) else { return }
        standstills = (0..<dice.within(1...3)).map { _ in
            (
                UInt64(dice.within(0...dice.pick([20_000, 200_000, 2_000_000]))) * 1000,
                UInt64(dice.pick([500, 1500, 5000, 15_000, 35_000])) * 1_000_000
            )
        }.sorted { $0.after < $1.after }
        // A token with a lifetime of seconds would be too old by then, and the requests in flight with it would be
        // refused.
        mintAfter = nil
        guard onlyStandsStill else { return }
        world.faults = .init()
        world.slow = 0
        server = ServerFaults()
        // Many rows are in the sender itself, and each step is fast.
        world.delay_us_max = min(world.delay_us_max, 500)
        world.buffer_bytes_min = 500
        world.buffer_bytes_max = 2000
        script = SimulatorScript(
            seed: script.seed, latency: .uniform(minimum: 0, maximum: Double(dice.within(0...300))))
        (mishaps, pause, canary, notAfter, mintAfter) = ([], nil, nil, nil, nil)
        requestTimeout = UInt32(dice.within(2000...3000))
        streamWindow = 0
        rows = rows.filter { $0.kind == .good }
        for index in rows.indices { rows[index].number = UInt64(index + 1) }
    }

    private mutating func drawSessions(_ dice: inout Dice) {
        let policies: [UnknownPolicy] = [.resend, .report, .resendIfCollapsible]
        self.policies = [dice.pick(policies)]
        for index in rows.indices { rows[index].isCollapsible = dice.chance(500_000) }
        guard dice.chance(400_000) else { return }
        mishaps = (0..<dice.pick([1, 1, 2, 3, 5])).map { _ in Mishap.draw(&dice) }
        variesLanes = dice.chance(300_000)
        // The operator changes the policy between sessions.
        if dice.chance(300_000) { self.policies = mishaps.map { _ in dice.pick(policies) } + self.policies }
    }

    private mutating func drawPolicy(_ dice: inout Dice) {
        notAfter = dice.chance(100_000) ? UInt64(dice.within(1...4)) : nil
        canary = dice.chance(100_000) ? (dice.within(1...50), dice.pick([5, 20, 100])) : nil
        pause =
            dice.chance(100_000)
            ? (UInt64(dice.within(0...1000)) * 1_000_000, UInt64(dice.within(1...3000)) * 1_000_000) : nil
    }

    private static func script(_ dice: inout Dice) -> SimulatorScript {
        var rules: [SimulatorRule] = []
        if dice.chance(600_000) {
            rules.append(SimulatorRule(share: 0.05, status: 410, reason: "Unregistered", timestamp: 1_700_000_000_000))
        }
        if dice.chance(400_000) {
            rules.append(
                SimulatorRule(
                    share: 0.1, status: 503, reason: "ServiceUnavailable", times: dice.within(1...3),
                    retryAfter: dice.chance(300_000) ? 1 : nil))
        }
        if dice.chance(300_000) {
            rules.append(SimulatorRule(share: 0.1, status: 429, reason: "TooManyRequests", times: dice.within(1...2)))
        }
        if dice.chance(200_000) {
            rules.append(SimulatorRule(share: 0.05, status: 500, reason: "InternalServerError", times: 1))
        }
        let latency: SimulatorLatency =
            switch dice.within(0...3) {
            case 0: .none
            case 1: .fixed(Double(dice.within(1...20)))
            case 2: .uniform(minimum: 0, maximum: Double(dice.within(1...100)))
            default: .exponential(median: Double(dice.within(1...30)), maximum: 500)
            }
        return SimulatorScript(seed: dice.next(), rules: rules, latency: latency)
    }

    private static func world(_ dice: inout Dice) -> SimulatedWorld.Options {
        var options = SimulatedWorld.Options()
        options.seed = dice.next()
        options.start_ns = 1_000_000_000
        options.delay_us_max = UInt32(dice.pick([50, 500, 5000, 40_000]))
        options.slow = dice.share(upTo: 300_000, inRuns: 100_000)
        options.buffer_bytes_min = UInt32(dice.pick([64, 1000, 16_000]))
        options.buffer_bytes_max = options.buffer_bytes_min + UInt32(dice.within(0...48_000))
        options.pieces = dice.share(upTo: 500_000, inRuns: 500_000)
        options.trace = -1
        options.faults.refused = dice.share(upTo: 600_000)
        options.faults.unanswered = dice.share(upTo: 300_000, inRuns: 200_000)
        options.faults.reset = dice.share(upTo: 700_000)
        options.faults.cut = dice.share(upTo: 700_000)
        options.faults.silent = dice.share(upTo: 600_000, inRuns: 250_000)
        options.faults.stalled = dice.share(upTo: 100_000)
        options.faults.stall_us = UInt32(dice.within(1...500_000))
        options.faults.fault_bytes = UInt32(dice.pick([100, 3000, 30_000, 100_000]))
        return options
    }

    /// Returns a window that is small, but allows the longest payload to be sent in a third of the time limit. Each
    /// window takes a round trip.
    private static func window(
        _ dice: inout Dice, _ world: SimulatedWorld.Options, _ requestTimeout: UInt32
    ) -> UInt32 {
        let windows = max(1, Int(requestTimeout) * 1000 / 3 / (2 * Int(world.delay_us_max) + 1000))
        return UInt32(max(dice.within(1...300), InputRow.payloadMax / windows + 1))
    }

    private static func server(_ dice: inout Dice) -> ServerFaults {
        var faults = ServerFaults()
        faults.refused = dice.share(upTo: 200_000)
        faults.reset = dice.share(upTo: 200_000)
        faults.forgotten = dice.share(upTo: 50_000, inRuns: 150_000)
        faults.goaway = dice.share(upTo: 100_000)
        faults.settings = dice.share(upTo: 200_000)
        faults.closed = dice.share(upTo: 50_000)
        return faults
    }
}
