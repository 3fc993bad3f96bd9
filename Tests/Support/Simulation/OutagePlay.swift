import APNSBatch
import APNSBatchModel
import APNSBatchSending
import APNSBatchSimulator
import APNSBatchTransport
import Logging

/// A campaign in virtual time whose server has an outage.
package struct OutagePlay {
    package enum Kind: String, CaseIterable, Sendable {
        /// Every request is answered 503.
        case refusals
        /// Connections end, and new ones cannot be established.
        case noConnections
        /// Requests get no answer.
        case silence
    }

    package struct Report: Sendable {
        /// The number of rows by outcome.
        package var rows: [String: Int] = [:]
        package var failure: String?
        package var isUnreachable = false
        /// The virtual time of the run, in seconds.
        package var seconds = 0
        package var requests = 0
        /// The log lines about the outage.
        package var lines: [String] = []
    }

    package var kind: Kind
    /// The duration of the outage, in seconds.
    package var outage: UInt64
    package var patience: Int
    package var rows: Int
    package var lanes: Int
    /// The number of requests that are answered before the outage begins. The default is a third of the rows.
    package var before: Int
    /// The status of refusals.
    package var status = 503

    package init(
        _ kind: Kind, outage: UInt64, patience: Int = 3600, rows: Int = 3000, lanes: Int = 1, before: Int? = nil
    ) {
        (self.kind, self.outage, self.patience, self.rows, self.lanes) = (kind, outage, patience, rows, lanes)
        self.before = before ?? rows / 3
    }

    private static let second: UInt64 = 1_000_000_000

    private var plan: SeedPlan {
        var plan = SeedPlan(seed: 1)
        plan.rows = (1...UInt64(rows)).map { InputRow(kind: .good, number: $0, name: "n") }
        (plan.lanes, plan.connections, plan.streams, plan.streamWindow) = (lanes, 2, 100, 0)
        (plan.attempts, plan.requestTimeout, plan.mintAfter) = (5, 30_000, nil)
        (plan.mishaps, plan.policies, plan.notAfter, plan.canary, plan.pause) = ([], [.resend], nil, nil, nil)
        plan.server = SeedPlan.ServerFaults()
        plan.script = SimulatorScript(answersPerSecond: 500)
        plan.script.rateLimit = RateLimit(
            perSecond: 1_000_000, status: status, reason: status == 503 ? "ServiceUnavailable" : "TooManyRequests")
        plan.world = SimulatedWorld.Options()
        (plan.world.seed, plan.world.start_ns, plan.world.trace) = (1, Self.second, -1)
        (plan.world.delay_us_max, plan.world.buffer_bytes_min, plan.world.buffer_bytes_max) = (5000, 16_000, 64_000)
        return plan
    }

    /// - Parameter input: a path that may be overwritten.
    package func run(input: String) throws -> Report {
        let plan = plan
        let world = SimulatedWorld(plan.world)
        let strikes = Strikes()
        let witness = Witness(plan.server, seed: 1, strikes: strikes)
        let simulator = try Stage.simulator(plan, witness, world)
        let disk = MemoryDisk(seed: 1, broken: nil, strikes: strikes)
        try Stage.write(plan.rows, to: input)
        var campaign = Stage.campaign(
            plan, port: simulator.port, policy: .resend, lanes: lanes, hasCanary: false)
        campaign.retryDelay = nil
        campaign.unavailablePatience = .seconds(patience)
        let lines = Lines()
        let run = try CampaignRun(
            campaign, input: RunInput(.file(input)), files: disk, logger: Logger(label: "outage") { _ in lines },
            surroundings: Stage.surroundings(plan, world, port: simulator.port))
        disk.begin(nil)
        let steps = try SteppedRun(run)
        let start = world.now
        var began: UInt64?
        var isOver = false
        while !steps.isFinished, let number = world.next() {
            if number == simulator.number { _ = simulator.turn() } else { steps.turn(of: number, now: world.now) }
            steps.step(now: world.now)
            if began == nil, witness.requests >= before {
                began = world.now
                begin(world, simulator, witness)
            } else if let began, !isOver, world.now >= began + outage * Self.second {
                isOver = true
                end(world, simulator, witness)
            }
            if world.now > start + 4 * 3600 * Self.second { break }
        }
        var report = Report()
        for line in try ResultsText.lines(of: disk.lines.bytes) { report.rows["\(line.outcome.name)", default: 0] += 1 }
        report.failure = run.failure.map { "\($0)" }
        report.isUnreachable = run.failure?.code == .unreachable
        report.seconds = Int((world.now - start) / Self.second)
        report.requests = witness.requests
        report.lines = lines.texts
        return report
    }

    private func begin(_ world: SimulatedWorld, _ simulator: SteppedSimulator, _ witness: Witness) {
        switch kind {
        case .refusals: simulator.take(perSecond: 0)
        case .silence: witness.faults.forgotten = 1_000_000
        case .noConnections:
            var faults = SimulatedWorld.Faults()
            faults.refused = 1_000_000
            world.setFaults(faults)
            for connection in simulator.connections { simulator.close(connection) }
        }
    }

    private func end(_ world: SimulatedWorld, _ simulator: SteppedSimulator, _ witness: Witness) {
        simulator.take(perSecond: 1_000_000)
        witness.faults.forgotten = 0
        world.setFaults(nil)
    }
}

/// Stores the log lines about outages.
private final class Lines: LogHandler, @unchecked Sendable {
    var texts: [String] = []
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.warning
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let text = "\(event.message)"
        if text.contains("probes") || text.contains("answers again") { texts.append(text) }
    }
}
