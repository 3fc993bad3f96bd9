import APNSBatch
import APNSBatchModel
import APNSBatchSending
import APNSBatchSimulator
import APNSBatchTransport
import Logging

/// A campaign, or a sender, in virtual time, some of whose connections are sick: they refuse nearly everything, or take twenty
/// times as long as the others.
package struct SicknessPlay: Sendable {
    package enum Kind: String, CaseIterable, Sendable {
        case tooManyRequests = "429 TooManyRequests"
        case tooManyTokenUpdates = "429 TooManyProviderTokenUpdates"
        case failed = "500 InternalServerError"
        case unavailable = "503 ServiceUnavailable"
        case shutdown = "503 Shutdown"
        case slow = "slow"

        /// The ones that refuse.
        package static let refusals = allCases.filter { $0 != .slow }

        fileprivate var fault: FaultKind {
            let words = rawValue.split(separator: " ")
            guard words.count == 2, let status = Int(words[0]) else { return .slow(SlowFault(milliseconds: 19 * 20)) }
            return .storm(StormFault(status: status, reason: String(words[1]), requests: 1_000_000_000))
        }
    }

    /// Which connections are sick, by their number in the order in which the server accepts them.
    package enum Sick: Equatable, Sendable {
        case one(Int)
        case some([Int])
        /// Every second one.
        case half
        case all

        fileprivate var occasions: [FaultOccasion] {
            func only(_ number: Int) -> FaultOccasion {
                var occasion = FaultOccasion()
                occasion.connection = number
                return occasion
            }
            switch self {
            case .one(let number): return [only(number)]
            case .some(let numbers): return numbers.map(only)
            case .half:
                var occasion = FaultOccasion()
                occasion.connectionEvery = 2
                return [occasion]
            case .all: return [FaultOccasion(of: .all)]
            }
        }
    }

    package struct Report: Sendable {
        /// The number of rows or notifications by outcome, or by the code of the error.
        package var rows: [String: Int] = [:]
        package var failure: String?
        package var isUnreachable = false
        package var requests = 0
        package var connections = 0
        /// The virtual time, in seconds.
        package var seconds = 0
        /// The warnings.
        package var lines: [String] = []
    }

    package var kind: Kind
    package var sick: Sick
    package var lanes: Int
    /// The limit of connections of a lane.
    package var connections = 8
    /// The number of requests that a sick connection answers well before it is sick, or of all requests if all are.
    package var after = 0
    package var rows = 4000
    /// In seconds.
    package var patience = 3600
    /// For a sender: the number of notifications per second, and the time limit of each in seconds.
    package var perSecond = 2000
    package var timeout: UInt64 = 3600

    package init(_ kind: Kind, _ sick: Sick, lanes: Int = 1) {
        (self.kind, self.sick, self.lanes) = (kind, sick, lanes)
    }

    private static let second: UInt64 = 1_000_000_000

    private var plan: SeedPlan {
        var plan = SeedPlan(seed: 1)
        plan.rows = (1...UInt64(rows)).map { InputRow(kind: .good, number: $0, name: "n") }
        (plan.lanes, plan.connections, plan.streams, plan.streamWindow) = (lanes, connections, 50, 0)
        (plan.attempts, plan.requestTimeout, plan.mintAfter) = (5, 30_000, nil)
        (plan.mishaps, plan.policies, plan.notAfter, plan.canary, plan.pause) = ([], [.resend], nil, nil, nil)
        plan.rateLimit = Campaign.RateLimit()
        plan.server = SeedPlan.ServerFaults()
        plan.script = SimulatorScript(latency: .lognormal(median: 20, sigma: 0.3, maximum: 200))
        plan.script.faults = sick.occasions.map { occasion in
            var occasion = occasion
            occasion.after = occasion.of == .all ? max(1, after) : after
            return SimulatorFault(kind.fault, when: occasion)
        }
        plan.world = SimulatedWorld.Options()
        (plan.world.seed, plan.world.start_ns, plan.world.trace) = (1, Self.second, -1)
        (plan.world.delay_us_max, plan.world.buffer_bytes_min, plan.world.buffer_bytes_max) = (1000, 16_000, 64_000)
        return plan
    }

    // MARK: A campaign

    /// - Parameter input: a path that may be overwritten.
    package func run(input: String) throws -> Report {
        let plan = plan
        let world = SimulatedWorld(plan.world)
        return try withExtendedLifetime(world) { try run(plan, world, input) }
    }

    private func run(_ plan: SeedPlan, _ world: SimulatedWorld, _ input: String) throws -> Report {
        let strikes = Strikes()
        let witness = Witness(plan.server, seed: 1, strikes: strikes)
        let simulator = try Stage.simulator(plan, witness, world)
        let disk = MemoryDisk(seed: 1, broken: nil, strikes: strikes)
        try Stage.write(plan.rows, to: input)
        var campaign = Stage.campaign(plan, port: simulator.port, policy: .resend, lanes: lanes, hasCanary: false)
        campaign.retryDelay = nil
        campaign.unavailablePatience = .seconds(patience)
        let lines = Warnings()
        let run = try CampaignRun(
            campaign, input: RunInput(.file(input)), files: disk, logger: Logger(label: "sickness") { _ in lines },
            surroundings: Stage.surroundings(plan, world, port: simulator.port))
        disk.begin(nil)
        let steps = try SteppedRun(run)
        let start = world.now
        while !steps.isFinished, world.now < start + 7200 * Self.second, let number = world.next() {
            if number == simulator.number { _ = simulator.turn() } else { steps.turn(of: number, now: world.now) }
            steps.step(now: world.now)
        }
        var report = report(world, witness, lines, since: start)
        for line in try ResultsText.lines(of: disk.lines.bytes) { report.rows["\(line.outcome.name)", default: 0] += 1 }
        report.failure = run.failure.map { "\($0)" }
        report.isUnreachable = run.failure?.code == .unreachable
        return report
    }

    private func report(_ world: SimulatedWorld, _ witness: Witness, _ lines: Warnings, since start: UInt64) -> Report {
        var report = Report()
        report.requests = witness.requests
        report.connections = Int(world.strikes.connections)
        report.seconds = Int((world.now - start) / Self.second)
        report.lines = lines.texts
        return report
    }

    // MARK: A sender

    package func send() throws -> Report {
        let plan = plan
        let world = SimulatedWorld(plan.world)
        return try withExtendedLifetime(world) { try send(plan, world) }
    }

    private func send(_ plan: SeedPlan, _ world: SimulatedWorld) throws -> Report {
        let witness = Witness(plan.server, seed: 1, strikes: Strikes())
        let simulator = try Stage.simulator(plan, witness, world)
        var configuration = Sender.Configuration(
            destination: .host("simulated", port: simulator.port), credentials: Stage.credentials(0))
        (configuration.systemTrust, configuration.lanes, configuration.connections) = (false, lanes, connections)
        let lines = Warnings()
        let engine = try SendEngine(
            configuration, id: CampaignID((1, 2)), to: .devices, rate: RunRate(Campaign.RateLimit()),
            logger: Logger(label: "sickness") { _ in lines },
            surroundings: Stage.surroundings(plan, world, port: simulator.port))
        let sender = try SteppedSender(engine, lanes: lanes)
        let start = world.now
        let all = plan.rows.indices.map { index in
            let time = start + UInt64(index) * Self.second / UInt64(perSecond)
            return SimulatedSubmission(
                plan.rows[index], time: time, deadline: time + timeout * Self.second, cancelledAt: nil)
        }
        var (submitted, isClosed) = (0, false)
        while !sender.isFinished, world.now < start + 7200 * Self.second, let number = world.next() {
            while submitted < all.count, all[submitted].time <= world.now,
                engine.mailbox.pending < configuration.pending
            {
                try submit(all[submitted], to: engine)
                submitted += 1
            }
            if !isClosed, submitted == all.count, engine.mailbox.pending == 0 {
                isClosed = true
                engine.mailbox.close(graceEnds: .max)
            }
            if number == simulator.number { _ = simulator.turn() } else { sender.turn(of: number) }
        }
        var report = report(world, witness, lines, since: start)
        report.failure = sender.failure
        for one in all {
            switch one.ends.first {
            case .success(let result)?: report.rows["\(result.outcome.name)", default: 0] += 1
            case .failure(let error)?: report.rows["\(error.code)", default: 0] += 1
            case nil: report.rows["none", default: 0] += 1
            }
        }
        return report
    }

    private func submit(_ one: SimulatedSubmission, to engine: SendEngine) throws {
        one.isSubmitted = true
        let fields = SubmittedFields.of(one.notification, seconds: { 1_700_000_000 })
        one.id = try engine.mailbox.submit(fields, deadline: one.deadline, owner: one)
    }
}

/// Stores the warnings.
private final class Warnings: LogHandler, @unchecked Sendable {
    var texts: [String] = []
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.warning
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { texts.append("\(event.message)") }
}
