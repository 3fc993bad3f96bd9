import APNSBatch
import APNSBatchModel
import APNSBatchRows
import APNSBatchSending
import APNSBatchSimulator
import APNSBatchTransport
import Glibc
import Logging

/// Runs a campaign against a simulator over a faulty network, in one thread and in virtual time. One seed determines
/// everything. A phase with faults is followed by one without faults, in which the run must finish.
package final class Simulation {
    /// The result of a run.
    package struct Report: Sendable {
        package var seed: UInt64
        /// A digest of all events of the network, which is the same for the same seed.
        package var digest: UInt64
        package var rows: Int
        package var requests: Int
        package var turns: Int
        /// The virtual time of the run, in nanoseconds.
        package var elapsed: UInt64
        /// The errors found; empty for a correct run.
        package var findings: [String]
        package var strikes: Strikes
    }

    private let plan: SeedPlan
    private let world: SimulatedWorld
    private let witness: Witness
    private let simulator: SteppedSimulator
    private let disk: MemoryDisk
    private let strikes = Strikes()
    private let campaign: (UnknownPolicy, _ session: Int, _ hasCanary: Bool) -> Campaign
    private let surroundings: Surroundings
    private let logger: Logger
    private let input: String
    private var audit: Audit
    private let meddler: Meddler
    private var turns = 0
    private let start: UInt64

    private var sessions = 0
    /// Whether there is a ledger to continue with.
    private var isBegun = false
    private var hasCanary = true
    /// Whether a resumed run sends unavailable rows again.
    private var retriesUnavailable: Bool
    /// Whether every row has its outcome.
    private var isComplete = false
    /// The limit in force, and how the requests of the session keep it; nil without one.
    private var rateBound: RateBound?
    private var pausedUntil: UInt64?
    private var hasPaused = false

    /// The number of sessions without a mishap after which the run counts as endless.
    private static let sessionsBeyond = 6

    /// Runs a seed until the campaign is complete or has failed.
    ///
    /// - Parameters:
    ///   - input: a path that may be overwritten. The ledger contains it, so that a path of another length changes the
    ///     run.
    ///   - trace: a descriptor that receives a line for every event of the network.
    package static func run(
        seed: UInt64, input: String, broken: BrokenRule? = nil, trace: Int32 = -1, logger: Logger = .quiet
    ) throws -> Report {
        var plan = SeedPlan(seed: seed)
        plan.world.trace = trace
        if trace >= 0 { print(plan.text) }
        let world = SimulatedWorld(plan.world)
        return try withExtendedLifetime(world) {
            try Simulation(plan, world, input: input, broken: broken, logger: logger).runToEnd()
        }
    }

    private init(_ plan: SeedPlan, _ world: SimulatedWorld, input: String, broken: BrokenRule?, logger: Logger) throws {
        self.plan = plan
        retriesUnavailable = plan.retriesUnavailable
        self.logger = logger
        self.input = input
        self.world = world
        start = world.now
        witness = Witness(plan.server, seed: plan.seed, strikes: strikes)
        simulator = try Stage.simulator(plan, witness, world)
        meddler = Meddler(plan, world, witness, simulator, strikes)
        disk = MemoryDisk(seed: plan.seed, broken: broken, strikes: strikes)
        audit = Audit(plan, witness)
        try Stage.write(plan.rows, to: input)
        let port = simulator.port
        campaign = {
            Stage.campaign(plan, port: port, policy: $0, lanes: plan.lanes(of: $1), hasCanary: $2)
        }
        surroundings = Stage.surroundings(plan, world, port: simulator.port)
    }

    private func runToEnd() -> Report {
        var findings: [String] = []
        while findings.isEmpty, !isComplete {
            findings = session(sessions < plan.mishaps.count ? plan.mishaps[sessions] : nil)
            sessions += 1
            if sessions > plan.mishaps.count + Self.sessionsBeyond { findings.append("it never completes") }
        }
        if findings.isEmpty {
            findings = Judge(
                plan: plan, witness: witness, results: disk.lines.bytes, ledger: LedgerImage(disk.ledger.bytes),
                mayHaveArrived: audit.mayHaveArrived, sessions: sessions
            ).findings()
        }
        strikes.count("sessions", sessions)
        if plan.outcomesPerBatch != nil { strikes.count("small batches") }
        strikes.count(world.strikes)
        let image = LedgerImage(disk.ledger.bytes)
        if image.reopenings > 0 { strikes.count("unavailable rows reopened") }
        for row in image.rows.values {
            strikes.count("outcome: \(Outcome(rawValue: row.outcome).map { "\($0.name)" } ?? "?")")
        }
        return Report(
            seed: plan.seed, digest: digest, rows: plan.rows.count,
            requests: witness.requests, turns: turns, elapsed: world.now - start,
            findings: findings, strikes: strikes)
    }

    // MARK: Sessions

    /// Runs one process from its beginning to its end, and returns the findings about it.
    private func session(_ mishap: Mishap?) -> [String] {
        let policy = plan.policies[min(sessions, plan.policies.count - 1)]
        disk.begin(mishap?.diskFault)
        let ending: Audit.Ending
        var hasPlayed = false
        do {
            var campaign = campaign(policy, sessions, hasCanary)
            campaign.retryUnavailable = retriesUnavailable
            let run = try CampaignRun(
                campaign, input: try runInput(), resuming: isBegun, files: disk, logger: logger,
                surroundings: surroundings)
            isBegun = true
            ending = try play(run, mishap)
            hasPlayed = true
        } catch let finding as Finding {
            return [finding.text]
        } catch {
            guard disk.isStruck || begunAnew(error) || refusedRetry(error) else {
                return ["session \(sessions): \(error)"]
            }
            ending = diskEnding
        }
        disk.end(powerless: ending == .powerless)
        meddler.settle()
        let image = LedgerImage(disk.ledger.bytes)
        let findings =
            audit.end(ending, image, words: disk.words, policy: policy)
            + filesFindings(image, hasPlayed && ending == .orderly)
        return findings.map { "session \(sessions): \($0)" }
    }

    private func runInput() throws -> RunInput {
        guard plan.isSpooled else { return try RunInput(.file(input)) }
        strikes.count("rows kept in a spool")
        return RunInput(
            try SpooledSource(.file(input)),
            name: input)
    }

    /// Returns the findings for the files that a session left.
    private func filesFindings(_ image: LedgerImage, _ hasPlayed: Bool) -> [String] {
        var findings: [String] = []
        // In later sessions, rows may have been accepted that an earlier session sent before it was killed.
        if hasPlayed, sessions == 0, disk.isStruck, plan.mishaps[0].diskFault?.kind == .full {
            // Rows whose answer was lost are excepted, because they are sent again when the run is resumed.
            for row in plan.rows
            where image.rows[row.number] == nil && !image.isHanded(row.number) && witness.accepted(row.number) > 0 {
                findings.append("row \(row.number): the disk was full, and its outcome was not recorded")
            }
        }
        // Results that could not be written are missing until the run is resumed.
        guard image.isEnded, !disk.isStruck else { return findings }
        do {
            let lines = try ResultsText.lines(of: disk.lines.bytes).count
            if lines != image.rows.count {
                findings.append("\(lines) lines and \(image.rows.count) outcomes after an end in order")
            }
        } catch {
            findings.append("\(error)")
        }
        return findings
    }

    private struct Finding: Error {
        let text: String
    }

    /// Begins a new run if the first bytes of the ledger were not durable, because that is not a ledger.
    private func begunAnew(_ error: any Error) -> Bool {
        guard "\(error)".hasSuffix("is not a ledger; nothing was sent"), witness.statuses.isEmpty else {
            return false
        }
        strikes.count("begun anew")
        isBegun = false
        disk.wipe()
        return true
    }

    /// Resumes without the retry of unavailable rows from now on, because `not-after` has passed and they would expire.
    private func refusedRetry(_ error: any Error) -> Bool {
        guard retriesUnavailable, let notAfter = plan.notAfter, (world.now - start) / 1_000_000_000 + 1 >= notAfter,
            "\(error)".contains("so that unavailable rows would expire")
        else { return false }
        strikes.count("late retry refused")
        retriesUnavailable = false
        return true
    }

    private var diskEnding: Audit.Ending {
        guard disk.isStruck, let fault = plan.mishaps[sessions].diskFault else { return .orderly }
        switch fault.kind {
        case .kill: return .killed
        case .powerLoss: return .powerless
        case .failure, .full: return fault.endsInPowerLoss ? .powerless : .orderly
        }
    }

    /// Runs a process until it has ended or is killed. When it is killed, only the disk and the bytes on the way are
    /// left.
    private func play(_ run: CampaignRun, _ mishap: Mishap?) throws -> Audit.Ending {
        let steps = try SteppedRun(run)
        let begin = (turns: turns, time: world.now, requests: witness.requests)
        var isStopped = false
        rateBound = bound(by: run.rateLimit)
        while !steps.isFinished {
            switch mishap {
            case .kill(let after) where turns - begin.turns >= after:
                strikes.count("killed")
                return .killed
            case .powerLoss(let after) where turns - begin.turns >= after:
                strikes.count("power lost")
                return .powerless
            case .killAtRequest(let after, let powerless) where witness.requests - begin.requests >= after:
                strikes.count(powerless ? "power lost at a request" : "killed at a request")
                return powerless ? .powerless : .killed
            case .stop(let after, let atOnce) where turns - begin.turns >= after && !isStopped:
                strikes.count(atOnce ? "stopped at once" : "stopped")
                isStopped = true
                if atOnce { run.stopAtOnce() } else { run.stop() }
            default: break
            }
            if let finding = turn(steps, run, since: begin.time) { throw Finding(text: finding) }
            if disk.isDead { return diskEnding }
        }
        isComplete = run.failure == nil && !isStopped
        if let failure = run.failure, !isExplained(failure) { throw Finding(text: "the run stopped: \(failure)") }
        return diskEnding
    }

    private func isExplained(_ failure: CampaignError) -> Bool {
        if "\(failure)".contains("canary:"), hasCanary, plan.canary != nil {
            strikes.count("canary failed")
            hasCanary = false
            return true
        }
        return disk.isStruck
    }

    /// Runs one turn of a transport. Returns a finding if the run does not end.
    private func turn(_ steps: SteppedRun, _ run: CampaignRun, since begin: UInt64) -> String? {
        guard let number = world.next() else { return "nothing would ever happen again" }
        turns += 1
        if number == simulator.number {
            if !simulator.turn() { return "the simulator's loop failed" }
            meddler.meddle()
        } else {
            let before = steps.handedOver
            steps.turn(of: number, now: world.now)
            if let finding = holdToRate(steps.handedOver - before) { return finding }
        }
        changeRate(run)
        meddler.standStill()
        // The other threads run independently of the lanes.
        if meddler.dice.chance(500_000), !disk.isDead, world.now >= meddler.standsUntil { steps.step(now: world.now) }
        meddler.calmDown()
        pause(run)
        if world.now > max(begin, start + plan.calmAfter) + plan.calmPatience {
            return "not finished \(plan.calmPatience / 1_000_000_000) s after the last fault"
        }
        return nil
    }

    private func bound(by limit: Campaign.RateLimit) -> RateBound? {
        limit.rate.map { RateBound(perSecond: $0.perSecond) }
    }

    private func holdToRate(_ requests: Int) -> String? {
        rateBound?.note(requests, at: world.now)
        guard let rateBound, !rateBound.isKept else { return nil }
        return "\(rateBound.excess) requests more than the rate allows"
    }

    private func changeRate(_ run: CampaignRun) {
        guard let change = plan.rateChange, world.now - start >= change.after, run.rateLimit != change.limit,
            (try? run.setRateLimit(change.limit)) != nil
        else { return }
        strikes.count("rate changed")
        rateBound = bound(by: change.limit)
    }

    private func pause(_ run: CampaignRun) {
        guard let pause = plan.pause else { return }
        if !hasPaused, world.now - start >= pause.after {
            strikes.count("paused")
            hasPaused = true
            run.pause()
            pausedUntil = world.now + pause.time
        }
        if let until = pausedUntil, world.now >= until {
            run.unpause()
            pausedUntil = nil
        }
    }

    /// A digest of the network's events and of the results. Texts of results are excluded, because they contain the
    /// name of the input.
    private var digest: UInt64 {
        let lines = (try? ResultsText.lines(of: disk.lines.bytes)) ?? []
        return lines.reduce(world.digest) { digest, line in
            var mixed = digest ^ line.row &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(line.outcome.rawValue) << 32
            mixed = (mixed ^ UInt64(line.status) << 16 ^ UInt64(line.attempts)) &* 0xFF51_AFD7_ED55_8CCD
            return mixed ^ mixed >> 33
        }
    }
}

extension Logger {
    /// A logger that writes nothing.
    package static var quiet: Logger { Logger(label: "simulation") { _ in SwiftLogNoOpLogHandler() } }
}

/// Writes log lines to standard output without the time of day, which is not that of the simulation.
private struct PlainLog: LogHandler {
    var metadata = Logger.Metadata()
    var logLevel = Logger.Level.debug

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        print("\(event.level): \(event.message)")
        fflush(nil)
    }
}

extension Logger {
    /// A logger for traces.
    package static var standardOutput: Logger { Logger(label: "simulation") { _ in PlainLog() } }
}
